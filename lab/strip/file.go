package strip

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/lab/strip/live"
)

// file is the arm as a configuration of the gateway: the same policy as its scenario in
// virtual time, which a test holds the two to.
func (s *Setting) file() string {
	var b strings.Builder
	say := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	service, deadline := ms(s.ServiceMs), ms(s.DeadlineMs)
	say("version: 1\nlisten: \"127.0.0.1:0\"\nadmin: \"127.0.0.1:0\"\nseed: %d", s.Seed)
	say("upstreams:\n  scorer: { url: %q, slots: %d, service: %v }", live.ScorerURL, s.Slots, service)
	say("classes:\n  strip:\n    match: { path: /strip }\n    upstream: scorer\n    slots: %d", s.Slots)
	switch s.Policy {
	case "queue":
		say("    deadline: 1h\n    max_deadline: 1h\n    order: fifo\n    feasible: off\n    shed: off")
		say("    budget: { latency: 1h, service: %v }\n    memory: { limit: 1GiB, per_request: 1KiB }", service)
	case "deadline":
		say("    deadline: %v\n    order: fifo\n    feasible: off\n    shed: off", deadline)
		say("    budget: { latency: 1h, service: %v }\n    memory: { limit: 1GiB, per_request: 1KiB }", service)
	default:
		say("    deadline: %v\n    budget: { latency: %v, service: %v }", deadline, deadline, service)
	}
	switch s.Policy {
	case "seed_rule":
		say("    shed: off")
	case "session", "prefix", "gap":
		say("    session: { key: \"header:X-Sentence\", span: 1m }")
	}
	switch s.Policy {
	case "prefix", "gap":
		say("    gap: { expr: \"double(headers['X-Gap'])\" }")
	}
	say("    ladder:")
	if s.Policy == "gap" {
		say("      - cache: { ttl: 1m, ignore: [X-Number, X-Gap, X-Sentence] }")
	}
	say("      - static: { file: %s }", live.ListFile)
	if s.Policy == "seed_rule" {
		say("  listed:\n    match: { path: /listed }\n    upstream: scorer\n    slots: 1024\n    deadline: %v", deadline)
	}
	return b.String()
}
