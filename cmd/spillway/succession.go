package main

import (
	"context"
	"os"
	"os/signal"
	"sync"

	"github.com/spillway-dev/spillway/gateway"
)

// succession has a new process take over from this one on the signal for it, until
// the function that it returns is called. What comes of it is logged.
func succession(ctx context.Context, g *gateway.Gateway) (stop func()) {
	if len(successorSignal) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan os.Signal, 1)
	signal.Notify(told, successorSignal...)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case <-told:
				g.Succeed(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(told)
		cancel()
		waiting.Wait()
	}
}
