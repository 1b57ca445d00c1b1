package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

type benchOptions struct {
	setup
	state       string
	miner       string
	champion    string
	bars        []string
	workers     int
	profilePath string
	rows        bool
	log         bool
	output      outputFormat
}

// Engines of --engine.
const (
	engineCompiler    = "compiler"
	engineInterpreter = "interpreter"
)

func newBench(s streams) *cobra.Command {
	o := &benchOptions{}
	cmd := &cobra.Command{
		Use:   "bench solver...",
		Short: "Run solvers through one benchmark epoch and print who earned what",
		Long: `Runs every solver over the intents of a pack: initialize, restore its state, a
plan for each intent, executed on the pack's chain and scored, and serialize its
state. A solver is a WebAssembly module, or JavaScript if its file's name ends
in .js; one that cannot be run at all has a row "refused" for every intent.

The result is the same for any number of workers and any order of solvers. With
--state a solver gets back what it serialized in the last epoch; its miner owns
that state, and is named like the solver's file unless --miner says otherwise.

In batch isolation a solver may carry over what it learns from intent to intent;
in intent isolation every intent starts where on_benchmark_start ended, and one
solver uses all workers. The pack's digest names the isolation. It does not name
the engine: the interpreter gives the same rows, tens of times slower.

--champion FILE runs the champion beside them, and says whether one of them
replaces it and why; --bar FILE, at most twice, runs one that was dethroned,
against which what is new is measured as well. Both keep states of their own.

--profile writes where the fuel went, by function and stack, for go tool pprof;
it changes no row. Build solvers with their names for it: without -s.
` + exitStatus,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &hinted{usagef("no solver given"), "make bench builds and runs the reference solvers"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "folder that keeps states and rows (default: none)")
	f.StringVar(&o.miner, "miner", "", "whose the solver is; with one solver only")
	f.StringVar(&o.champion, "champion", "", "the solver to beat")
	f.StringArrayVar(&o.bars, "bar", nil, "a dethroned champion, at most two")
	f.IntVar(&o.workers, "workers", min(runtime.GOMAXPROCS(0), benchmark.MaxWorkers), "solvers run at the same time")
	f.BoolVar(&o.rows, "rows", false, "print every row as well")
	f.BoolVar(&o.log, "log", false, "print what the solvers logged, to standard error")
	f.StringVar(&o.profilePath, "profile", "", "write fuel by function as a pprof profile; slow")
	o.isolation.of = []string{string(harness.IsolationBatch), string(harness.IsolationIntent)}
	f.Var(&o.isolation, "isolation", "batch or intent (default: the pack's)")
	o.engine = choice{engineCompiler, []string{engineCompiler, engineInterpreter}}
	f.Var(&o.engine, "engine", "compiler or interpreter")
	o.output.register(cmd)
	return cmd
}

func (o *benchOptions) run(ctx context.Context, s streams, paths []string) (err error) {
	if len(o.bars) > 0 && o.champion == "" {
		return usagef("--bar needs --champion, whom it was dethroned by")
	}
	entrants, err := o.entrants(paths)
	if err != nil {
		return err
	}
	if o.workers < 1 || o.workers > benchmark.MaxWorkers {
		return usagef("--workers must be from 1 to %d, got %d", benchmark.MaxWorkers, o.workers)
	}
	if o.profilePath != "" {
		if o.profile, err = newProfiler(o.profilePath); err != nil {
			return err
		}
		defer o.profile.abandon()
	}
	prepared, engine, err := o.prepare(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()

	if err := prepared.CheckEntrants(entrants, o.workers); err != nil {
		return err
	}
	var store *benchmark.Store
	if o.state != "" {
		if store, err = benchmark.OpenStore(o.state); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	talk := newProgress(s, entrants, prepared.Intents())
	epoch, err := benchmark.RunEpoch(ctx, prepared, entrants, o.workers, store, talk.hooks())
	talk.end()
	if err != nil {
		return err
	}
	if o.profile != nil {
		names := solverNames(epoch)
		if err := o.profile.write(names); err != nil {
			return err
		}
		if unnamed := o.profile.unnamed(names); len(unnamed) > 0 {
			fmt.Fprintf(s.err, "assay: hint: the functions of %s have no names: build Go without -s; scripts have none\n", strings.Join(unnamed, ", "))
		}
	}
	if o.log {
		renderLogs(s.err, epoch)
	}
	if o.output == outputJSON {
		return writeJSON(s.out, epoch)
	}
	renderEpoch(s.out, epoch)
	if o.rows {
		renderRows(s.out, epoch, prepared.Pack())
	}
	return nil
}

// solverNames gives the miners of an epoch's solvers, by identity.
func solverNames(e *benchmark.Epoch) map[string]string {
	names := map[string]string{}
	for _, session := range e.Sessions {
		names[session.Module] = session.Miner
	}
	return names
}

type other struct {
	path string
	role benchmark.Role
}

// others are the solvers of flags.
func (o *benchOptions) others() []other {
	var out []other
	if o.champion != "" {
		out = append(out, other{o.champion, benchmark.RoleChampion})
	}
	for _, path := range o.bars {
		out = append(out, other{path, benchmark.RoleBar})
	}
	return out
}

// entrants makes one of each path, and of each flag that names one.
func (o *benchOptions) entrants(paths []string) ([]benchmark.Entrant, error) {
	if o.miner != "" && len(paths) > 1 {
		return nil, usagef("--miner names the miner of one solver, %d are given", len(paths))
	}
	modules, err := readModules(paths)
	if err != nil {
		return nil, err
	}
	out := make([]benchmark.Entrant, len(paths))
	first := map[string]string{}
	for i, path := range paths {
		miner := minerOf(path)
		if o.miner != "" {
			miner = o.miner
		}
		if other, ok := first[miner]; ok {
			return nil, &hinted{
				usagef("%s and %s would be one miner's, %s", intent.Quoted(other, 200), intent.Quoted(path, 200), intent.Quoted(miner, 60)),
				"a solver's miner is named like its file: name the files apart",
			}
		}
		first[miner] = path
		out[i] = benchmark.Entrant{Miner: miner, Role: benchmark.RoleCandidate, Module: modules[i], Script: isScript(path)}
	}
	for _, other := range o.others() {
		modules, err := readModules([]string{other.path})
		if err != nil {
			return nil, err
		}
		out = append(out, benchmark.Entrant{Miner: minerOf(other.path), Role: other.role, Module: modules[0], Script: isScript(other.path)})
	}
	return out, nil
}
