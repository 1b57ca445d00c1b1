package main

import (
	"context"
	"errors"
	"strings"

	"github.com/subnet112/assay/benchmark"
	"github.com/subnet112/assay/intent"
)

// exitCode maps an error to the process's status. The order matters: a usage
// fault inside an interrupted run is still an interruption.
func exitCode(ctx context.Context, err error) int {
	var (
		snapshot *benchmark.SnapshotError
		usage    *intent.UsageFault
	)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errThreshold):
		return exitThreshold
	case errors.As(err, &snapshot):
		return exitSnapshot
	case errors.Is(err, benchmark.ErrLocked):
		return exitStoreLocked
	case errors.As(err, &usage), errors.Is(err, benchmark.ErrDamaged), errors.Is(err, benchmark.ErrSchema):
		return exitUsage
	}
	return exitInfra
}

// oneLine is an error as it is printed: one line, whatever made its text.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	return printable(s)
}

// printable escapes what could drive a terminal. Unlike [intent.Quoted] it adds
// no quotes: the text is ours, what is in it may not be.
func printable(s string) string {
	q := intent.Quoted(s, 4096)
	q = strings.TrimSuffix(strings.TrimPrefix(q, `"`), `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q)
}
