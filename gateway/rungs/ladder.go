package rungs

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Rung is one of: a cache, a fixed answer, or, where neither is said, something
// elsewhere that is not this package's to ask.
type Rung struct {
	Cache  *Cache
	Static *Static
}

// Ladder is a class's cheaper answers, best first. It is not changed once made, and
// safe for concurrent use. A nil Ladder has none.
type Ladder struct {
	order ladder.Ladder
	rungs []Rung
	cache *Cache // nil: none of the rungs is one
}

// New returns the ladder of these rungs in this order, which has as many; the error
// says what would be right.
func New(order ladder.Ladder, rungs ...Rung) (*Ladder, error) {
	l := &Ladder{order: order, rungs: rungs}
	for _, r := range rungs {
		if r.Cache == nil {
			continue
		}
		if l.cache != nil {
			return nil, errors.New("ladder: a second cache holds nothing that the first does not; keep one")
		}
		l.cache = r.Cache
	}
	return l, nil
}

// Len returns how many rungs there are, Name what one is called.
func (l *Ladder) Len() int { return l.order.Len() }

// Name returns the name of a rung, 0 being the best.
func (l *Ladder) Name(rung int) string { return l.order.Name(rung) }

// Way is a request's way down a ladder, with the step that is to be done now.
type Way struct {
	ladder.Descent
	Step ladder.Step
}

// Found is what there is at a step of a way down.
type Found uint8

// What there can be.
const (
	Nothing   Found = iota // no rung has anything, or the reason is none that steps down
	Answer                 // the step's rung has an answer
	Elsewhere              // the step's rung is another upstream, which is to be asked
)

// Descend begins the way down of a request that was not served for a reason, with so
// much left of its time.
func (l *Ladder) Descend(why reason.Reason, left time.Duration) (w Way) {
	w.Descent, w.Step = l.order.Descend(why, left)
	return w
}

// Seek goes on, from the way's step, until a rung has an answer or is elsewhere. What
// is elsewhere and has none either is reported by Missed or Full of the way, whose
// step is then sought from. What speaks gRPC is given nothing but what is elsewhere,
// what asks for another protocol nothing at all.
func (l *Ladder) Seek(a *Ask, w *Way, left time.Duration) (s Standin, f Found) {
	if switches(a.Request) {
		return Standin{}, Nothing
	}
	for ; !w.Step.Refused(); w.Step = w.Missed(left) {
		s := Standin{Rung: w.Step.Name, Reason: w.Step.Reason}
		switch r := &l.rungs[w.Step.Rung]; {
		case r.Static == nil && r.Cache == nil:
			return Standin{}, Elsewhere
		case speaksGRPC(a.Request):
		case r.Static != nil:
			s.fixed = r.Static
			return s, Answer
		default:
			var ok bool
			if s.earlier, s.Age, ok = r.Cache.lookup(a); ok {
				return s, Answer
			}
		}
	}
	return Standin{}, Nothing
}

// Find returns the best cheaper answer that is in memory, and which rung gives it;
// false if none has one, or the reason is none that steps down.
func (l *Ladder) Find(a *Ask, why reason.Reason) (s Standin, rung int, ok bool) {
	if l == nil {
		return Standin{}, 0, false
	}
	const left = time.Duration(math.MaxInt64)
	for w := l.Descend(why, left); ; w.Step = w.Missed(left) {
		switch s, f := l.Seek(a, &w, left); f {
		case Answer:
			return s, w.Step.Rung, true
		case Nothing:
			return Standin{}, 0, false
		}
	}
}

// Replaces reports whether an answer of the upstream's with that status is an error
// that stands for none: what RFC 5861 section 4 calls one.
func Replaces(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// switches reports whether a request asks for another protocol on its connection.
func switches(r *http.Request) bool {
	return r.Header["Upgrade"] != nil || r.Method == http.MethodConnect
}

func speaksGRPC(r *http.Request) bool {
	return r.ProtoMajor >= 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// Learn has the ladder's cache note an answer of the upstream: what was kept may be
// void now, and this one may be kept. It returns what the body is to be written to,
// or nil. began is when the call did.
func (l *Ladder) Learn(a *Ask, status int, h http.Header, length int64, began time.Time) *Copy {
	if l == nil || l.cache == nil {
		return nil
	}
	l.cache.Changed(a, status)
	return l.cache.Begin(a, status, h, length, began)
}
