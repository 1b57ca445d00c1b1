package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/fixtures"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// A setup is what bench and check have in common: the pack, the chains under it
// and the sandbox.
type setup struct {
	pack   string
	chains []string
	cache  string

	profile   *profiler // nil = fuel is not profiled
	isolation choice    // of the pack, unless it is empty
	engine    choice    // of the sandbox, "" = compiler
}

func (o *setup) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.pack, "pack", "", "pack file (default: the embedded one)")
	f.StringArrayVar(&o.chains, "chain", nil, "snapshot file the pack names, repeatable")
	f.StringVar(&o.cache, "cache", "", "folder for compiled modules (default: the user's)")
}

// prepare loads what the flags name and returns the pack ready to run. The
// caller closes the engine.
func (o *setup) prepare(ctx context.Context, s streams) (_ *benchmark.Prepared, _ *sandbox.Engine, err error) {
	pack, err := o.loadPack()
	if err != nil {
		return nil, nil, err
	}
	if o.isolation.value != "" {
		pack.Isolation = harness.Isolation(o.isolation.value)
	}
	snapshots, err := o.snapshots()
	if err != nil {
		return nil, nil, err
	}
	engine, err := o.sandbox(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	prepared, err := benchmark.Prepare(ctx, pack, snapshots, engine)
	if err != nil {
		var missing *benchmark.SnapshotError
		if errors.As(err, &missing) {
			err = &hinted{err, o.chainHint(snapshots)}
		}
		return nil, nil, errors.Join(err, engine.Close(context.WithoutCancel(ctx)))
	}
	for _, d := range prepared.Dropped() {
		fmt.Fprintf(s.err, "assay: warning: app %s failed its own known-good plan and leaves the pack: %s\n",
			intent.Quoted(d.App, 60), clip(d.Reason, 200))
	}
	return prepared, engine, nil
}

// chainHint says how to give the snapshot that is missing, and what was given.
func (o *setup) chainHint(have map[common.Hash]*chain.Snapshot) string {
	if len(o.chains) == 0 {
		return "give the file with --chain; assay snapshot info shows a file's content hash"
	}
	names := make([]string, 0, len(have))
	for hash := range have {
		names = append(names, hex.EncodeToString(hash[:6]))
	}
	slices.Sort(names)
	return "the embedded snapshot and the files of --chain are " + strings.Join(names, ", ")
}

func (o *setup) loadPack() (*benchmark.Pack, error) {
	if o.pack == "" {
		return benchmark.DecodePack(fixtures.Pack())
	}
	return benchmark.LoadPack(o.pack)
}

// snapshots returns the embedded snapshot and those of --chain, by content.
func (o *setup) snapshots() (map[common.Hash]*chain.Snapshot, error) {
	out := map[common.Hash]*chain.Snapshot{}
	embedded, err := chain.DecodeSnapshot(fixtures.Snapshot())
	if err != nil {
		return nil, fmt.Errorf("embedded snapshot: %w", err)
	}
	for _, path := range append([]string{""}, o.chains...) {
		snap := embedded
		if path != "" {
			if snap, err = openSnapshot(path); err != nil {
				return nil, err
			}
		}
		hash, err := snap.Hash()
		if err != nil {
			return nil, usagef("%s: %w", path, err)
		}
		out[hash] = snap
	}
	return out, nil
}

func (o *setup) sandbox(ctx context.Context, s streams) (*sandbox.Engine, error) {
	dir := o.cache
	if dir == "" {
		base, err := s.cacheDir()
		if err != nil {
			fmt.Fprintf(s.err, "assay: warning: compiled modules are not kept: %s\n", oneLine(err))
		} else {
			dir = filepath.Join(base, "assay", "modules")
		}
	}
	config := sandbox.Config{
		CacheDir:    dir,
		Interpreter: o.engine.value == engineInterpreter,
		Compiler:    s.compiler,
		Notice:      func(n sandbox.Notice) { fmt.Fprintf(s.err, "assay: warning: %s\n", printable(n.String())) },
	}
	if o.profile != nil {
		config.FuelProfile = &o.profile.fuel
	}
	return sandbox.New(ctx, config)
}

// readModules reads the solvers of a command line.
func readModules(paths []string) ([][]byte, error) {
	out := make([][]byte, len(paths))
	for i, path := range paths {
		b, err := readModule(path)
		if err != nil {
			return nil, usagef("%w", withoutPathTwice(path, err))
		}
		out[i] = b
	}
	return out, nil
}

// readModule reads a file, but not much more of it than a solver may have: what
// is wrong with a longer one is said when it is compiled.
func readModule(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a folder")
	}
	return io.ReadAll(io.LimitReader(f, int64(max(harness.Profile.ModuleBytes, harness.MaxScriptBytes))+1))
}

// isScript tells a solver in JavaScript by the name of its file.
func isScript(path string) bool { return filepath.Ext(path) == ".js" }

// minerOf is whose a module is when nobody says: the name of its file.
func minerOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
