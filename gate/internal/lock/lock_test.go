package lock

import (
	"runtime"
	"sync"
	"testing"
)

// Whoever holds the lock is alone, however long that takes: some hold it for a moment,
// some until others have looked often enough to have gone to sleep.
func TestLockIsHeldByOne(t *testing.T) {
	const callers, times = 4, 100
	var (
		l       Mutex
		holding int // a race, if the lock does not keep them apart
		held    int
		all     sync.WaitGroup
	)
	for caller := range callers {
		all.Go(func() {
			for i := range times {
				l.Lock()
				if holding++; holding != 1 {
					t.Errorf("%d hold it at once", holding)
				}
				if (i+caller)%50 == 0 {
					for range looks * between {
						runtime.Gosched()
					}
				}
				held++
				holding--
				l.Unlock()
			}
		})
	}
	all.Wait()
	if held != callers*times {
		t.Errorf("held %d times, not %d", held, callers*times)
	}
}
