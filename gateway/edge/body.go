package edge

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// Why a body could not be read. Whoever forwards it tells by these what to answer.
var (
	// ErrTooLarge is a body beyond its bound: 413.
	ErrTooLarge = errors.New("the body is larger than limits.body allows")
	// ErrSlowBody is a body that was waited for longer than limits.body_grace and
	// limits.body_rate allow: 408.
	ErrSlowBody = errors.New("the body came more slowly than limits.body_grace and limits.body_rate allow")
)

// body is a request's body, bounded in size and in how long it may be waited for.
// Only time in which somebody waits for the caller counts: an upstream that is slow
// to take a body is not held against whoever sends it.
type body struct {
	io.ReadCloser
	limits    *Limits
	interrupt func() // makes a read that is under way return
	now       func() time.Time

	got    int64
	waited time.Duration
	err    error

	mu      sync.Mutex
	reading bool
	slow    bool
	timer   *time.Timer
}

func newBody(w http.ResponseWriter, r *http.Request, l *Limits) *body {
	return &body{ReadCloser: r.Body, limits: l, now: time.Now, interrupt: func() {
		http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	}}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if most := b.limits.Body - b.got + 1; b.limits.Body > 0 && int64(len(p)) > most {
		p = p[:most]
	}
	began := b.now()
	if !b.begin() {
		b.err = ErrSlowBody
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	slow := b.end()
	b.waited += b.now().Sub(began)
	b.got += int64(n)
	switch {
	case b.limits.Body > 0 && b.got > b.limits.Body:
		b.err = ErrTooLarge
		return n - int(b.got-b.limits.Body), b.err
	case slow && err != io.EOF:
		b.err = ErrSlowBody
		return n, b.err
	}
	return n, err
}

// begin starts the clock for one read. It reports false if no time is left.
func (b *body) begin() bool {
	if b.limits.BodyRate <= 0 {
		return true
	}
	earned := float64(b.got) / float64(b.limits.BodyRate) * float64(time.Second)
	left := b.limits.BodyGrace + time.Duration(min(earned, float64(time.Hour))) - b.waited
	if left <= 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = true
	if b.timer == nil {
		b.timer = time.AfterFunc(left, b.late)
	} else {
		b.timer.Reset(left)
	}
	return true
}

// end stops the clock and reports whether it had run out.
func (b *body) end() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = false
	if b.timer != nil {
		b.timer.Stop()
	}
	return b.slow
}

// late interrupts the read that has lasted too long. One that has just ended is let
// be: the connection may be another request's by now.
func (b *body) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading {
		b.slow = true
		b.interrupt()
	}
}
