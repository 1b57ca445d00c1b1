package main

import (
	"github.com/spf13/cobra"

	"github.com/subnet112/assay/sandbox"
)

// compileCommand is the command that the sandbox starts for each module it
// compiles: this program again. Nobody else has a use for it.
const compileCommand = "compile"

func newCompile() *cobra.Command {
	return &cobra.Command{
		Use:                compileCommand,
		Short:              "Compile one module, for a process that started this one",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return sandbox.CompileChild(args) },
	}
}

// compilerOf is the command that starts a program as a compiler.
func compilerOf(program string) []string { return []string{program, compileCommand} }
