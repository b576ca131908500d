package rungs

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Rung is one of: a cache, a fixed answer.
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

// Find returns the best cheaper answer to a request that was not served for a reason,
// and which rung gives it; false if none has one, or the reason is none that steps
// down. What speaks gRPC or asks for another protocol is given none.
func (l *Ladder) Find(a *Ask, why reason.Reason) (s Standin, rung int, ok bool) {
	if l == nil || l.order.Len() == 0 || !speaksHTTP(a.Request) {
		return Standin{}, 0, false
	}
	const left = time.Duration(0) // all of it is in memory
	d, step := l.order.Descend(why, left)
	for ; !step.Refused(); step = d.Missed(left) {
		s := Standin{Rung: step.Name, Reason: step.Reason}
		switch r := &l.rungs[step.Rung]; {
		case r.Static != nil:
			s.fixed = r.Static
			return s, step.Rung, true
		case r.Cache != nil:
			if s.earlier, s.Age, ok = r.Cache.lookup(a); ok {
				return s, step.Rung, true
			}
		}
	}
	return Standin{}, 0, false
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

func speaksHTTP(r *http.Request) bool {
	return r.Header["Upgrade"] == nil && r.Method != http.MethodConnect &&
		!(r.ProtoMajor >= 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"))
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
