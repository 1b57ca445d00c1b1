package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"github.com/subnet112/assay/sandbox"
)

// writeProfile writes fuel by guest function as a pprof profile, gzipped. names
// gives modules the names of their solvers, by identity. The bytes depend on what
// was gathered and on names alone.
func writeProfile(path string, samples []sandbox.FuelSample, names map[string]string) (err error) {
	p := pprofOf(samples, names)
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("fuel profile: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".profile-")
	if err != nil {
		return usagef("--profile %s: %w", path, withoutPath(err))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is of no use to anybody
		}
	}()
	if err := errors.Join(p.Write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
		id := hex.EncodeToString(s.Module[:])
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
