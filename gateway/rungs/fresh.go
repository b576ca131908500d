package rungs

import (
	"net/http"
	"time"
)

// spanMost is the longest time that is counted with; it keeps sums in range.
const spanMost = secondsMost * time.Second

// initialAge is how old an answer was when its call began (RFC 9111 section 4.2.3,
// counted from there on: the time that the call took is added by the clock).
// response is when its header came.
func initialAge(h http.Header, response time.Time) time.Duration {
	var age time.Duration
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		age = max(response.Sub(date), 0)
	}
	if lines := h["Age"]; len(lines) > 0 {
		if said, ok := deltaSeconds(blank(lines[0])); ok {
			age = max(age, said)
		}
	}
	return min(age, spanMost)
}

// terms are how long an answer is fresh, and how much longer it may be used where
// nothing better can be had.
type terms struct {
	fresh, stale time.Duration
	explicit     bool // the answer names its freshness
}

// termsOf returns an answer's terms: its own (RFC 9111 section 4.2.1, RFC 5861
// section 4), and where it names none the operator's.
func (c *CacheConfig) termsOf(d *directives, h http.Header) terms {
	if c.Override {
		return terms{fresh: c.TTL, stale: c.StaleFor, explicit: true}
	}
	t := terms{fresh: c.TTL, stale: c.StaleFor, explicit: true}
	switch expires, ok := h["Expires"]; {
	case d.hasSharedMaxAge:
		t.fresh = d.sharedMaxAge
	case d.hasMaxAge:
		t.fresh = d.maxAge
	case ok:
		t.fresh = expiry(expires, h)
	default:
		t.explicit = d.public
	}
	if d.hasStaleIfError {
		t.stale = d.staleIfError
	}
	if d.mustRevalidate || d.proxyRevalidate || d.hasSharedMaxAge {
		t.stale = 0 // it must not be used without asking (RFC 9111 section 5.2.2)
	}
	return t
}

// expiry is the time from Date to Expires. A date that makes no sense, "0" above
// all, has passed.
func expiry(expires []string, h http.Header) time.Duration {
	end, err := http.ParseTime(expires[0])
	if err != nil || len(expires) > 1 {
		return 0
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = time.Now()
	}
	return min(max(end.Sub(date), 0), spanMost)
}
