package config

import (
	"reflect"
	"strings"
)

// meaning is what a change of a key comes to in a running gateway.
type meaning struct {
	// path is a key's way from the top, or the beginning of it; * is any name.
	path    string
	restart bool
	says    string
	// wider, if set, is said instead where the change leaves more room than there
	// was. Of a few keys that is a smaller value.
	wider   string
	inverse bool
}

// of is what a change that goes that way means.
func (m meaning) of(goes way) string {
	if m.inverse {
		goes = -goes
	}
	if goes == up && m.wider != "" {
		return m.wider
	}
	return m.says
}

// way is where a value goes: up, down, or sideways where that cannot be said.
type way int

const (
	down way = iota - 1
	sideways
	up
)

// wayOf compares two values of the same key.
func wayOf(a, b reflect.Value) way {
	lowA, highA, ok := span(a)
	lowB, highB, okB := span(b)
	switch {
	case !ok || !okB:
	case lowB >= lowA && highB >= highA:
		return up
	case lowB <= lowA && highB <= highA:
		return down
	}
	return sideways
}

// span is from where to where a limit may be, of values that are a limit. One that
// is measured or derived unless it is written has none.
func span(v reflect.Value) (low, high int64, ok bool) {
	switch x := v.Interface().(type) {
	case Slots:
		if x.Adaptive() {
			return int64(x.Min), int64(x.Max), true
		}
		return int64(x.Fixed), int64(x.Fixed), true
	case Duration:
		return int64(x), int64(x), x != 0
	case Bytes:
		return int64(x), int64(x), x != 0
	case int:
		return int64(x), int64(x), true
	}
	return 0, 0, false
}

// What is said of several keys.
const (
	narrower = "a lower limit cancels nothing"
	tighter  = "the room's bound follows; who is over it by then stays"
	roomier  = "the room's bound follows"
)

// meanings are those that go without saying of no other key: a key that is not
// below one of these counts for whatever is offered from then on. The longest
// path that fits a key is its own.
var meanings = []meaning{
	{path: "listen", restart: true},
	{path: "admin", restart: true},
	{path: "admin.token", says: "for the next request on"},
	{path: "admin.open_health"},
	{path: "admin.hosts"},
	{path: "tls", restart: true},
	{path: "limits.header", restart: true},
	{path: "limits.read_header", restart: true},
	{path: "limits.idle", restart: true},
	{path: "limits.streams", restart: true},
	{path: "log", restart: true},
	{path: "record", restart: true},
	{path: "scale.agent", restart: true},
	{path: "limits.write_stall", restart: true},
	{path: "quotas.*", says: "counts at once; what was used stays used", wider: "counts at once; what was used stays used"},
	{path: "ledger", restart: true},
	{path: "jobs", restart: true},
	{path: "explain.remember", says: "the oldest of what there is most of are forgotten", wider: "what is remembered stays"},
	{path: "explain.keep", says: "counts for what is remembered, too"},
	{path: "seed", says: "counts from the next start on"},
	{path: "upstreams.*", says: "calls that run keep the connection they have"},
	{path: "upstreams.*.slots", says: "for plan and sim only"},
	{path: "upstreams.*.service", says: "for plan and sim only"},
	{path: "classes.*.slots", says: narrower, wider: "who waits is started at once"},
	{path: "classes.*.borrow", says: narrower, wider: "who waits is started at once, where slots are idle"},
	{path: "classes.*.gap.learned.by", says: "what was learned means nothing any more, and learning begins anew"},
	{path: "classes.*.gap.learned.compare", says: "what was learned means nothing any more, and learning begins anew"},
	{path: "classes.*.upstream", says: "what waits and runs stays where it is"},
	{path: "classes.*.budget", says: tighter, wider: roomier},
	{path: "classes.*.budget.service", says: tighter, wider: roomier, inverse: true},
	{path: "classes.*.memory", says: tighter, wider: roomier},
	{path: "classes.*.memory.per_request", says: tighter, wider: roomier, inverse: true},
	{path: "classes.*.deadline", says: "for requests offered from then on"},
	{path: "classes.*.max_deadline", says: "for requests offered from then on"},
	{path: "classes.*.tenant.policy", says: "who waits is lined up again, in the order of arrival"},
	{path: "classes.*.importance.levels", says: "who waits is lined up again, in the order of arrival"},
	{path: "classes.*.expect", says: "for plan only"},
}

func meaningOf(path string) meaning {
	var best meaning
	at := strings.Split(path, ".")
	for _, m := range meanings {
		p := strings.Split(m.path, ".")
		if len(p) <= len(at) && fits(m.path, strings.Join(at[:len(p)], ".")) && len(p) > strings.Count(best.path, ".") {
			best = m
		}
	}
	return best
}
