package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/intent"
)

// outputFormat is the value of --output.
type outputFormat string

const (
	outputText outputFormat = "text"
	outputJSON outputFormat = "json"
)

func (o *outputFormat) String() string { return string(*o) }
func (o *outputFormat) Type() string   { return "text|json" }

func (o *outputFormat) Set(v string) error {
	switch f := outputFormat(v); f {
	case outputText, outputJSON:
		*o = f
		return nil
	}
	return fmt.Errorf("must be text or json")
}

func (o *outputFormat) register(cmd *cobra.Command) {
	*o = outputText
	cmd.Flags().Var(o, "output", "format of the result")
}

// A choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "name" }

func (c *choice) Set(v string) error {
	if !slices.Contains(c.of, v) {
		return fmt.Errorf("must be %s", strings.Join(c.of, " or "))
	}
	c.value = v
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %s", cmd.Name(), intent.Quoted(args[0], 60))
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &hinted{usagef("%s takes %s, got %d arguments", cmd.Name(), what, len(args)), "see " + cmd.CommandPath() + " --help"}
		}
		return nil
	}
}
