package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/subnet112/assay/benchmark"
)

func newVersion(s streams) *cobra.Command {
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the build and the rules it scores by",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string          `json:"version"`
				Go      string          `json:"go"`
				System  string          `json:"system"`
				Rules   benchmark.Rules `json:"rules"`
			}{buildVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, benchmark.BuildRules()}
			if output == outputJSON {
				return writeJSON(s.out, v)
			}
			r := v.Rules
			fmt.Fprintf(s.out, "assay %s, %s, %s\n", v.Version, v.Go, v.System)
			fmt.Fprintf(s.out, "rules: abi %d, executor %d, scoring %d, cost %d, adoption %d, scorer %s\n",
				r.ABI, r.Executor, r.Scoring, r.Cost, r.Adoption, r.Scorer[:12])
			return nil
		},
	}
	output.register(cmd)
	return cmd
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
