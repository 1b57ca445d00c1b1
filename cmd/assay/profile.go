package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A profiler gathers fuel by guest function for one file.
type profiler struct {
	path string
	file *os.File // beside path until it is whole
	fuel sandbox.FuelProfile
}

// newProfiler insists that the file can be written before anything runs.
func newProfiler(path string) (*profiler, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".profile-")
	if err != nil {
		return nil, usagef("--profile %s: %w", path, withoutPath(err))
	}
	return &profiler{path: path, file: f}, nil
}

// unnamed tells for which solvers most of the fuel is in functions without names.
func (p *profiler) unnamed(names map[string]string) (out []string) {
	all, without := map[string]uint64{}, map[string]uint64{}
	for _, s := range p.fuel.Samples() {
		solver := names[hex.EncodeToString(s.Subject[:])]
		all[solver] += s.Fuel
		if strings.HasPrefix(s.Stack[len(s.Stack)-1], "function ") {
			without[solver] += s.Fuel
		}
	}
	for _, solver := range slices.Sorted(maps.Keys(all)) {
		if without[solver] > all[solver]/2 {
			out = append(out, intent.Quoted(solver, 60))
		}
	}
	return out
}

// write makes the file: a pprof profile, gzipped. names gives solvers their
// names, by identity. The bytes depend on what was gathered and on names alone.
func (p *profiler) write(names map[string]string) error {
	out := pprofOf(p.fuel.Samples(), names)
	if err := out.CheckValid(); err != nil {
		return fmt.Errorf("fuel profile: %w", err)
	}
	if err := errors.Join(out.Write(p.file), p.file.Chmod(0o644), p.file.Close()); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	return os.Rename(p.file.Name(), p.path)
}

// abandon removes what isn't whole; after write it does nothing.
func (p *profiler) abandon() {
	_ = p.file.Close()           // closed twice after write
	_ = os.Remove(p.file.Name()) // gone after write
}

// withoutPath is the error below the file's name that os puts around it.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// pprofOf makes one sample of each stack, with the solver as its label, so that
// profiles of several solvers can be told apart: pprof -tagfocus.
func pprofOf(samples []sandbox.FuelSample, names map[string]string) *profile.Profile {
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "fuel", Unit: "fuel"}},
		DefaultSampleType: "fuel",
		PeriodType:        &profile.ValueType{Type: "fuel", Unit: "fuel"},
		Period:            1,
	}
	locations := map[[2]string]*profile.Location{}
	mappings := map[string]*profile.Mapping{}
	for _, s := range samples {
		id := hex.EncodeToString(s.Subject[:])
		solver := names[id]
		if solver == "" {
			solver = id[:12]
		}
		m := mappings[id]
		if m == nil {
			m = &profile.Mapping{ID: uint64(len(p.Mapping) + 1), File: solver, BuildID: id, HasFunctions: true}
			mappings[id] = m
			p.Mapping = append(p.Mapping, m)
		}
		sample := &profile.Sample{Value: []int64{int64(s.Fuel)}, Label: map[string][]string{"solver": {solver}}}
		for i := len(s.Stack) - 1; i >= 0; i-- {
			key := [2]string{id, s.Stack[i]}
			l := locations[key]
			if l == nil {
				f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: s.Stack[i], SystemName: s.Stack[i], Filename: solver}
				p.Function = append(p.Function, f)
				l = &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: m, Line: []profile.Line{{Function: f}}}
				locations[key] = l
				p.Location = append(p.Location, l)
			}
			sample.Location = append(sample.Location, l)
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}
