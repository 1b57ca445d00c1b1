package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	s := streams{
		out:      os.Stdout,
		err:      os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		cacheDir: os.UserCacheDir,
		compiler: compilerOf(program),
	}
	// The first signal asks for an end, the next one is not waited for.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], s)
	stop()
	os.Exit(code)
}
