//go:build !race

// With so many timers of one instant the race detector's own runtime breaks down in a
// bubble now and then (Go 1.26.8, SIGSEGV in its store of stacks). What is shown here is
// shown under it by calls at random, and over sockets by gate/httpgate.

package caller_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
)

// authzed/spicedb#235: the loser blocked on sending its result for ever; 44,000
// goroutines in a profile.
func TestTenThousandHedgedCallsLeaveNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, before := open(t, hedged()), runtime.NumGoroutine()
		var all sync.WaitGroup
		for i := range 10_000 {
			all.Go(func() {
				caller.Do(t.Context(), c, safe, script(time.Duration(11+i%20)*ms, time.Duration(i%30)*ms))
			})
		}
		all.Wait()
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > before+10 { // the runtime's own come and go
			t.Errorf("%d goroutines, %d before", n, before)
		}
		if s := c.State(); s.Answered != 10_000 || s.Hedges == 0 {
			t.Errorf("state %+v", s)
		}
	})
}
