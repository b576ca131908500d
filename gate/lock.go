package gate

import "sync"

// lock is a sync.Mutex whose waiters look again for some microseconds before they
// sleep. What it guards takes a tenth of one, and to put a goroutine to sleep and
// wake it costs both sides ten, a good part of them the one who gives the lock back.
//
// They look seldom: each look takes the lock's cache line from the core that works
// under it, which has to fetch it back before it can go on (200 ns from one socket to
// another), and whoever only just gave the lock back gets it again meanwhile with all
// of the gate still in its caches. And they look before they try, for a try takes the
// line whether or not it succeeds.
type lock struct{ sync.Mutex }

const (
	looks = 16
	// between looks: one or two microseconds of a processor's time.
	between = 3000
)

// Lock takes the lock, sooner or later: who sleeps is served within a millisecond, as
// sync.Mutex has it, however many do not.
func (l *lock) Lock() {
	if !l.TryLock() {
		l.wait()
	}
}

func (l *lock) wait() {
	for range looks {
		for range between {
		}
		if l.TryLock() {
			return
		}
	}
	l.Mutex.Lock()
}
