package leak

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Holding is what the process holds at one moment.
type Holding struct {
	Goroutines int
	// Sockets is how many there are; -1 where the system does not tell.
	Sockets int
	// Heap is what is alive, in bytes.
	Heap uint64
}

// Slack is by how much each may have grown that is not the test's doing: what servers
// keep ready, and caches fill with.
type Slack struct {
	Goroutines, Sockets int
	Heap                uint64
}

// Held looks, after a collection.
func Held() Holding {
	return Holding{Goroutines: runtime.NumGoroutine(), Sockets: Sockets(), Heap: Heap()}
}

// patience is how long what ends by itself may take to; it only ends a test that fails.
const patience = 20 * time.Second

// Left fails the test if more is held than was before, and goes on being.
func (before Holding) Left(t testing.TB, s Slack) {
	t.Helper()
	before.Within(t, s, patience)
}

// Within is Left for what has to be gone after so long.
func (before Holding) Within(t testing.TB, s Slack, wait time.Duration) {
	t.Helper()
	now := Held()
	more := func() bool {
		return now.Goroutines > before.Goroutines+s.Goroutines || now.Sockets > before.Sockets+s.Sockets || now.Heap > before.Heap+s.Heap
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(wait); more() && time.Now().Before(end); now = Held() {
		<-tick.C
	}
	if more() {
		t.Errorf("held before: %+v; then: %+v", before, now)
	}
}

// Heap returns how many bytes of the heap are alive.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Sockets returns how many sockets are open, -1 where the system does not tell.
func Sockets() int {
	const of = "/proc/self/fd"
	files, err := os.ReadDir(of)
	if err != nil {
		return -1
	}
	n := 0
	for _, f := range files {
		if to, err := os.Readlink(of + "/" + f.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
