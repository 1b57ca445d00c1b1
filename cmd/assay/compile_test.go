package main

import (
	"context"
	"os"
)

// alone is assay where no child can be started.
func alone() {
	os.Exit(run(context.Background(), os.Args[1:], streams{
		out:      os.Stdout,
		err:      os.Stderr,
		cacheDir: os.UserCacheDir,
		compiler: compilerOf("/nonexistent/assay"),
	}))
}
