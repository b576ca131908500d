package boundary

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/test/story"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/*.txt")

// TestScripts tells stories: each file in testdata is one, in steps of prose,
// events and what they bring about. After every event the machine is checked.
//
//	file    = { prose | step }
//	prose   = "#" text                          what is about to happen, and why
//	step    = { line } "----" { expected }      up to the next empty line
//	line    = "config" { class }                a new machine; class lines are indented
//	        | INSTANT "reconfigure" { class }
//	        | INSTANT event
//	        | "state"                           classes, one a line
//	        | "tenants" CLASS | "items" CLASS
//	class   = "  " NAME { KEY "=" VALUE }       keys: see classKeys
//	event   = "offer" NAME { "class=" | "tenant=" | "importance=" | "deadline=" | "cost=" | "bytes=" }
//	        | "leave" NAME | "answered" NAME | "linger" NAME | "abandon" NAME REASON
//	        | "done" NAME [ REASON ] [ "cost=" N ]
//	        | "advance" | "drain"
//
// NAME is the request's; expected lines call it that. Deadlines are given as
// time left. Every event prints its verdict, if it has one, and its effects,
// each on a line with an arrow. An effect that happened on the way, because it
// was due, is printed with the event that found it due.
func TestScripts(t *testing.T) { story.Files(t, "testdata/*.txt", *update, runScript) }

// runScript returns the script with its expected lines as they turned out.
func runScript(t *testing.T, text string) string {
	s := &script{t: t}
	var b, step strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "#") || line == "":
			b.WriteString(line + "\n")
		case line == "----":
			b.WriteString("----\n" + s.run(step.String()))
			step.Reset()
			for i+1 < len(lines) && lines[i+1] != "" {
				i++ // the old expectation
			}
		default:
			b.WriteString(line + "\n")
			step.WriteString(line + "\n")
		}
	}
	return b.String()
}

type script struct {
	t       *testing.T
	machine *Machine
	tickets map[string]Ticket
	names   map[Ticket]string
	out     Effects
	b       strings.Builder
}

// run runs the lines of one step and returns what they print.
func (s *script) run(step string) string {
	s.b.Reset()
	lines := strings.Split(strings.TrimRight(step, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			line += "\n" + lines[i]
		}
		s.line(line)
		if s.machine == nil {
			s.t.Fatalf("%q: no machine; begin with config", line)
		}
		if err := s.machine.Check(); err != nil {
			s.t.Errorf("after %q: %v", line, err)
		}
	}
	return s.b.String()
}

func (s *script) line(line string) {
	head, classes, _ := strings.Cut(line, "\n")
	words := strings.Fields(head)
	switch words[0] {
	case "config":
		m, err := New(s.config(classes))
		if err != nil {
			s.t.Fatal(err)
		}
		s.machine, s.tickets, s.names = m, map[string]Ticket{}, map[Ticket]string{}
	case "state":
		for i := range s.machine.Classes() {
			c := s.machine.Class(i)
			fmt.Fprintf(&s.b, "%s: %d of %d+%d slots, %d waiting, %d blocked, bound %d (%s), abandoned %d; offered %d:",
				c.Name, c.Used, c.Slots, c.Borrow, c.Waiting, c.Blocked, c.Bound, c.BoundFrom, c.Tally.Abandoned, c.Tally.Offered)
			if c.Streams > 0 {
				fmt.Fprintf(&s.b, " %d streams,", c.Streams)
			}
			for _, r := range reason.All() {
				if n := c.Tally.Answered[r]; n > 0 {
					fmt.Fprintf(&s.b, " %d %v", n, r)
				}
			}
			s.b.WriteString("\n")
		}
	case "tenants":
		known, forgotten := s.machine.Tenants(s.machine.ClassIndex(words[1]))
		for _, t := range known {
			fmt.Fprintf(&s.b, "%q weight %d: offered %d, waiting %d, running %d\n", t.Name, t.Weight, t.Tally.Offered, t.Tally.Waiting, t.Tally.Running)
		}
		fmt.Fprintf(&s.b, "forgotten: offered %d\n", forgotten.Offered)
	case "items":
		for _, it := range s.machine.Items(s.machine.ClassIndex(words[1]), 100) {
			fmt.Fprintf(&s.b, "%s %s tenant=%q age %v, %v left\n", s.names[it.Ticket], it.State, it.Tenant, it.Age, it.TimeLeft)
		}
	default:
		s.event(unit.Instant(s.duration(words[0])), words[1], words[2:], classes)
	}
}

func (s *script) event(at unit.Instant, event string, words []string, classes string) {
	m, out := s.machine, &s.out
	out.Reset()
	var name string
	if len(words) > 0 {
		name, words = words[0], words[1:]
	}
	ticket, known := s.tickets[name]
	if event != "offer" && name != "" && !known {
		s.t.Fatalf("%v: request %q was never admitted", event, name)
	}
	switch event {
	case "offer":
		v := m.Offer(at, s.request(at, words), out)
		if v.Kind != Refuse {
			s.tickets[name], s.names[v.Ticket] = v.Ticket, name
			fmt.Fprintf(&s.b, "%s: %v until %v\n", name, v.Kind, v.Deadline)
		} else {
			fmt.Fprintf(&s.b, "%s: refuse %v, retry after %v\n", name, v.Reason, v.RetryAfter.Round(time.Millisecond))
		}
	case "leave":
		m.Leave(at, ticket, out)
	case "answered":
		m.Answered(at, ticket, out)
	case "linger":
		m.Linger(at, ticket, out)
	case "abandon":
		m.Abandon(at, ticket, s.reason(words[0]), out)
	case "done":
		o := Outcome{Reason: reason.Served}
		for _, w := range words {
			if cost, ok := strings.CutPrefix(w, "cost="); ok {
				o.Cost = unit.Cost(s.number(cost))
			} else {
				o.Reason = s.reason(w)
			}
		}
		m.Done(at, ticket, o, out)
	case "advance":
		m.Advance(at, out)
	case "drain":
		m.Drain(at, out)
	case "reconfigure":
		if err := m.Reconfigure(at, s.config(classes), out); err != nil {
			fmt.Fprintf(&s.b, "%v\n", err)
		}
	default:
		s.t.Fatalf("unknown event %q", event)
	}
	for _, e := range out.List {
		fmt.Fprintf(&s.b, "  -> %s: %v", s.names[e.Ticket], e.Kind)
		if e.Kind == Refuse || e.Kind == Overdue {
			fmt.Fprintf(&s.b, " %v, retry after %v", e.Reason, e.RetryAfter.Round(time.Millisecond))
		}
		s.b.WriteString("\n")
	}
}

func (s *script) request(at unit.Instant, words []string) *Request {
	r := &Request{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "class":
			r.Class = s.machine.ClassIndex(value)
			if r.Class < 0 { // one that is no longer configured
				for i := range s.machine.Classes() {
					if s.machine.Class(i).Name == value {
						r.Class = i
					}
				}
			}
		case "tenant":
			r.Tenant = value
		case "client":
			r.Client = rate.Key(s.number(value))
		case "retry":
			r.Retry = true
		case "refuse":
			r.Refuse = s.reason(value)
		case "importance":
			r.Importance = s.number(value)
		case "deadline":
			r.Deadline = at.Add(s.duration(value))
		case "cost":
			r.Cost = unit.Cost(s.number(value))
		case "bytes":
			r.Bytes = int64(s.number(value))
		default:
			s.t.Fatalf("unknown key %q", w)
		}
	}
	return r
}

func (s *script) config(lines string) Config {
	cfg := Config{Name: "app", Seed: 1, Strict: true}
	for _, line := range strings.Split(lines, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if v, ok := strings.CutPrefix(words[0], "clients="); ok { // of the whole resource
			cfg.Clients = *s.rule(v)
			continue
		}
		cl := Class{Name: words[0], Pool: pool.Config{Tenants: pool.TenantConfig{Weights: map[string]int{}}}}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			set, ok := classKeys[key]
			if !ok {
				s.t.Fatalf("unknown key %q", w)
			}
			set(s, &cl, value)
		}
		cfg.Classes = append(cfg.Classes, cl)
	}
	return cfg
}

// rule reads what one client may ask: burst/interval/concurrent.
func (s *script) rule(v string) *rate.Rule {
	words := strings.Split(v, "/")
	return &rate.Rule{Burst: int64(s.number(words[0])), Interval: s.duration(words[1]), Concurrent: int32(s.number(words[2]))}
}

// classKeys are what a class line may say.
var classKeys = map[string]func(*script, *Class, string){
	"slots":        func(s *script, c *Class, v string) { c.Pool.Slots = s.number(v) },
	"borrow":       func(s *script, c *Class, v string) { c.Pool.Borrow = s.number(v) },
	"latency":      func(s *script, c *Class, v string) { c.Pool.Latency = s.duration(v) },
	"service":      func(s *script, c *Class, v string) { c.Pool.Service = s.duration(v) },
	"bound":        func(s *script, c *Class, v string) { c.Pool.Bound = s.number(v) },
	"memory":       func(s *script, c *Class, v string) { c.Pool.MemoryLimit = int64(s.number(v)) },
	"max_age":      func(s *script, c *Class, v string) { c.Pool.MaxAge = s.duration(v) },
	"block":        func(s *script, c *Class, v string) { c.Pool.WhenFull, c.Pool.BlockFor = pool.Block, s.duration(v) },
	"retries":      func(s *script, c *Class, v string) { c.Pool.RetriesLast = v == "last" },
	"client":       func(s *script, c *Class, v string) { c.Clients = s.rule(v) },
	"levels":       func(s *script, c *Class, v string) { c.Pool.Levels = s.number(v) },
	"queue":        func(s *script, c *Class, v string) { c.Pool.Tenants.Queue = s.number(v) },
	"keep":         func(s *script, c *Class, v string) { c.Pool.Tenants.Keep = s.number(v) },
	"deadline":     func(s *script, c *Class, v string) { c.Deadline = s.duration(v) },
	"max_deadline": func(s *script, c *Class, v string) { c.DeadlineMax = s.duration(v) },
	"hold":         func(s *script, c *Class, v string) { c.HoldAtMost = s.duration(v) },
	"streams":      func(s *script, c *Class, v string) { c.Streams.Most = s.number(v) },
	"each_streams": func(s *script, c *Class, v string) { c.Streams.PerTenant = s.number(v) },
	"after":        func(s *script, c *Class, v string) { c.Streams.After = s.duration(v) },
	"feasible":     func(s *script, c *Class, v string) { c.AdmitHopeless = v == "off" },
	"retry_max":    func(s *script, c *Class, v string) { c.RetryAfterMax = s.duration(v) },
	"order":        func(s *script, c *Class, v string) { c.Pool.Order = parse[pool.Order](s, v) },
	"when_full":    func(s *script, c *Class, v string) { c.Pool.WhenFull = parse[pool.WhenFull](s, v) },
	"policy":       func(s *script, c *Class, v string) { c.Pool.Tenants.Policy = parse[fair.Policy](s, v) },
	"weight": func(s *script, c *Class, v string) { // weight=acme:2
		name, w, _ := strings.Cut(v, ":")
		c.Pool.Tenants.Weights[name] = s.number(w)
	},
}

// parse finds the value of a small enumeration by its name.
func parse[T interface {
	~uint8
	fmt.Stringer
}](s *script, name string) T {
	for v := T(0); v < 5; v++ {
		if name == nameOf(v) {
			return v
		}
	}
	s.t.Fatalf("unknown name %q", name)
	return 0
}

func nameOf(v fmt.Stringer) (name string) {
	defer func() { _ = recover() }() // beyond the last
	return v.String()
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) reason(name string) reason.Reason {
	if name == "none" {
		return reason.None
	}
	r, err := reason.Parse(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}
