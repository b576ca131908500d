package gateway

import (
	"sync"
	"time"
)

// watchAfter is how long an answer may flow before it is watched for idleness
// and for its caller's leaving. Nearly all are over by then, and to watch one
// costs more than to let it through.
const watchAfter = 20 * time.Millisecond

// flows are the answers that began less than watchAfter ago, oldest first, and
// one timer for all of them.
type flows struct {
	mu            sync.Mutex
	first, latest *flow
	timer         *time.Timer
	armed         bool
}

// add takes in an answer that has just begun.
func (l *flows) add(f *flow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.last = l.latest
	if f.last != nil {
		f.last.next = f
	} else {
		l.first = f
	}
	l.latest = f
	if !l.armed {
		l.arm(watchAfter)
	}
}

// remove strikes off an answer, if it is still there.
func (l *flows) remove(f *flow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlink(f)
}

func (l *flows) unlink(f *flow) {
	switch {
	case f.last != nil:
		f.last.next = f.next
	case l.first == f:
		l.first = f.next
	default:
		return // not there
	}
	if f.next != nil {
		f.next.last = f.last
	} else {
		l.latest = f.last
	}
	f.next, f.last = nil, nil
}

func (l *flows) arm(d time.Duration) {
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.sweep)
		return
	}
	l.timer.Reset(d)
}

// sweep has those watched that have flowed for long enough.
func (l *flows) sweep() {
	var due []*flow
	l.mu.Lock()
	l.armed = false
	for f := l.first; f != nil; f = l.first {
		if left := watchAfter - f.x.class.gate.Now().Sub(f.began); left > 0 {
			l.arm(left)
			break
		}
		l.unlink(f)
		due = append(due, f)
	}
	l.mu.Unlock()
	for _, f := range due {
		f.watch()
	}
}
