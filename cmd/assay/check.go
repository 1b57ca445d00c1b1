package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/harness"
	"github.com/subnet112/assay/intent"
)

func newCheck(s streams) *cobra.Command {
	var o setup
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "check solver...",
		Short: "Screen solvers as a validator does before a benchmark",
		Long: `Screens every solver in three stages: its sizes, imports and exports; initialize
and metadata; and three smoke intents on a pinned chain, whose plans must be
valid. Whether a plan earns anything is for bench to say. A solver is a
WebAssembly module, or JavaScript if its file's name ends in .js.
` + exitStatus,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &hinted{usagef("no solver given"), "see assay check --help"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.Context(), s, o, output, args)
		},
	}
	o.register(cmd)
	output.register(cmd)
	return cmd
}

// A screened is one solver's line in the report of check.
type screened struct {
	File    string          `json:"file"`
	Passed  bool            `json:"passed"`
	Stage   int             `json:"stage"` // that refused it, 0 = none
	Code    string          `json:"code"`
	Detail  string          `json:"detail"`
	Name    string          `json:"name"` // quoted
	Version string          `json:"version"`
	Stages  []harness.Stage `json:"stages"`
}

func check(ctx context.Context, s streams, o setup, format outputFormat, paths []string) (err error) {
	modules, err := readModules(paths)
	if err != nil {
		return err
	}
	prepared, engine, err := o.prepare(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()

	reports := make([]screened, len(paths))
	refused := false
	for i, path := range paths {
		if reports[i], err = screen(ctx, prepared, path, modules[i], isScript(path)); err != nil {
			return err
		}
		refused = refused || !reports[i].Passed
		if format == outputText {
			renderScreening(s.out, s.err, reports[i])
		}
	}
	if format == outputJSON {
		if err := writeJSON(s.out, map[string]any{"schema": 1, "solvers": reports}); err != nil {
			return err
		}
	}
	if refused {
		return errRefused
	}
	return nil
}

func screen(ctx context.Context, p *benchmark.Prepared, path string, code []byte, script bool) (screened, error) {
	sc, err := p.Screen(ctx, code, script)
	if err != nil {
		return screened{}, fmt.Errorf("%s: %w", path, err)
	}
	r := screened{
		File: path, Passed: sc.Passed, Stage: sc.Stage, Code: sc.Code, Detail: sc.Detail, Stages: sc.Stages,
	}
	if sc.Metadata.Name != "" {
		r.Name, r.Version = intent.Quoted(sc.Metadata.Name, harness.MaxNameRunes), sc.Metadata.Version
	}
	return r, nil
}

// renderScreening prints a pass to out, a refusal as one line of talk.
func renderScreening(out, talk io.Writer, r screened) {
	if !r.Passed {
		fmt.Fprintf(talk, "assay: error: %s: %s\n", printable(r.File), r.Detail)
		fmt.Fprintf(talk, "assay: hint: stage %d of 3, %s\n", r.Stage, r.Code)
		return
	}
	fmt.Fprintf(out, "%s: passed, %s %s, %s\n", printable(r.File), r.Name, r.Version, r.Detail)
}
