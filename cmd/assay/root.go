package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/intent"
)

// streams is everything of the process a command may touch.
type streams struct {
	out, err io.Writer
	terminal bool // err is a terminal that understands cursor movement
	cacheDir func() (string, error)
	compiler []string // see sandbox.Config; none = modules compile in this process
}

// Exit codes. They are part of the interface: see EXIT STATUS in --help.
const (
	exitOK          = 0
	exitInfra       = 1
	exitUsage       = 2
	exitRefused     = 10
	exitSnapshot    = 12
	exitStoreLocked = 13
	exitThreshold   = 20
	exitInterrupted = 130
)

const exitStatus = `
EXIT STATUS
  0    success; of bench: every row exists, void ones included
  1    infrastructure or internal fault
  2    usage: a wrong flag, file or pack; nothing was written
  10   check: a solver was refused
  12   a snapshot is missing or is not the one the pack names
  13   the state folder is in use by another process
  20   compare: the second solver would not replace the first
  130  interrupted
`

// errRefused and errThreshold mark the results of check, when a solver did not pass,
// and of compare, when one would not be adopted. The report has been printed, so the
// errors themselves say nothing more.
var (
	errRefused   = errors.New("refused")
	errThreshold = errors.New("not adopted")
)

// hinted is an error with the next thing to try.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

func usagef(format string, args ...any) error {
	return &intent.UsageFault{Err: fmt.Errorf(format, args...)}
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := &cobra.Command{
		Use:   "assay",
		Short: "Benchmark solvers that turn intents into execution plans",
		Long: `assay runs solvers as untrusted WebAssembly or JavaScript, executes their
plans on forked-chain snapshots and scores what really happened.
` + exitStatus,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &hinted{usagef("unknown command %s", intent.Quoted(args[0], 60)), "see assay --help"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &hinted{usagef("%v", err), "see " + cmd.CommandPath() + " --help"}
	})
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetArgs(args)
	root.AddCommand(newBench(s), newCheck(s), newCompare(s), newDraw(s), newSnapshot(s), newVersion(s), newCompile())

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if errors.Is(err, errRefused) || errors.Is(err, errThreshold) {
		return code
	}
	message := oneLine(err)
	if f := cmd.Flags().Lookup("output"); f != nil && f.Value.String() == "json" {
		// The document of a command that could not finish.
		doc := map[string]any{"schema": 1, "error": map[string]any{"code": code, "message": message}}
		if err := writeJSON(s.out, doc); err != nil {
			fmt.Fprintf(s.err, "assay: error: %s\n", oneLine(err))
		}
	}
	fmt.Fprintf(s.err, "assay: error: %s\n", message)
	var h *hinted
	if errors.As(err, &h) {
		fmt.Fprintf(s.err, "assay: hint: %s\n", h.hint)
	}
	return code
}
