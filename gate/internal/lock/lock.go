package lock

import "sync"

// Mutex is a sync.Mutex whose waiters look again before they sleep. Its zero value is
// free; it must not be copied after its first use.
type Mutex struct{ sync.Mutex }

const (
	looks = 8
	// between looks: some three microseconds of a processor's time.
	between = 8000
)

// Lock takes the lock, sooner or later: who sleeps is served about a millisecond later,
// as sync.Mutex has it, however many do not sleep.
func (l *Mutex) Lock() {
	if !l.TryLock() {
		l.wait()
	}
}

func (l *Mutex) wait() {
	for range looks {
		for range between {
		}
		if l.TryLock() {
			return
		}
	}
	l.Mutex.Lock()
}
