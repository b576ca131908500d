package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	coded := &exit{code: exitUsage, err: err} // what cobra itself found wrong is wrong usage
	errors.As(err, &coded)
	if coded.err != nil {
		fmt.Fprintln(root.ErrOrStderr(), coded.err)
	}
	return coded.code
}
