package call

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/test/story"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script/*.txt")

// TestScripts tells stories: each file in testdata/script is one, in steps of prose,
// facts and the steps they bring about.
//
//	file    = { prose | step }
//	prose   = "#" text                      what is about to happen, and why
//	step    = { line } "----" { expected }  up to the next empty line
//	line    = "policy" { KEY "=" VALUE }    a new dependency; keys: see policyKeys
//	        | INSTANT "reconfigure" { KEY "=" VALUE }
//	        | INSTANT "begin" NAME { "deadline=" | "idempotent" | "keyed" | "fixed" | "untold" }
//	        | INSTANT "sent" NAME N
//	        | INSTANT "ended" NAME N RESULT { "after=" | "never" | "always" }
//	        | INSTANT "fix" NAME | INSTANT "left" NAME | INSTANT "pass"
//	        | "state"
//
// An attempt is Sent as soon as it is to be, unless the call was begun untold. What
// Passed brings about at a Next that comes before the line's instant, or at it, is
// printed with an arrow, before what the line itself does.
func TestScripts(t *testing.T) { story.Files(t, "testdata/script/*.txt", *update, runScript) }

// runScript returns the script with its expected lines as they turned out.
func runScript(t *testing.T, text string) string {
	s := &script{t: t}
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "----":
			b.WriteString("----\n" + s.out.String())
			s.out.Reset()
			for i+1 < len(lines) && lines[i+1] != "" {
				i++ // the old expectation
			}
		case line == "" || strings.HasPrefix(line, "#"):
			b.WriteString(line + "\n")
		default:
			b.WriteString(line + "\n")
			s.line(strings.Fields(line))
		}
	}
	return b.String()
}

type script struct {
	t     *testing.T
	d     *Dependency
	now   unit.Instant
	calls []*scripted // in the order in which they began
	out   strings.Builder
}

type scripted struct {
	Call
	name   string
	next   unit.Instant
	untold bool
}

func (s *script) line(words []string) {
	switch words[0] {
	case "policy":
		s.d, s.calls = mustNew(s.t, s.policy(words[1:])), nil
		return
	case "state":
		s.state()
		return
	}
	at := unit.Instant(s.duration(words[0]))
	s.pass(at)
	s.now = at
	rest := words[2:]
	switch words[1] {
	case "pass":
	case "reconfigure":
		if err := s.d.Reconfigure(s.now, s.policy(rest)); err != nil {
			s.t.Fatal(err)
		}
	case "begin":
		c := &scripted{name: rest[0]}
		s.calls = append(s.calls, c)
		r := Request{Deadline: unit.Never}
		for _, word := range rest[1:] {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "deadline":
				r.Deadline = unit.Instant(s.duration(value))
			case "idempotent":
				r.Idempotent = true
			case "keyed":
				r.Keyed = true
			case "fixed":
				r.Fixed = true
			case "untold":
				c.untold = true
			default:
				s.t.Fatalf("begin: %q", word)
			}
		}
		s.tell(c, "", s.d.Begin(s.now, &c.Call, r))
	case "sent":
		c := s.call(rest[0])
		s.d.Sent(s.now, &c.Call, uint16(s.number(rest[1])))
	case "ended":
		c := s.call(rest[0])
		s.tell(c, "", s.d.Ended(s.now, &c.Call, uint16(s.number(rest[1])), s.outcome(rest[2:])))
	case "left":
		c := s.call(rest[0])
		s.tell(c, "", s.d.Left(s.now, &c.Call))
	case "fix":
		s.call(rest[0]).Fix()
	default:
		s.t.Fatalf("%q", words)
	}
}

// pass reports Passed wherever Next comes up to an instant, in order of time and
// then of the calls.
func (s *script) pass(until unit.Instant) {
	for {
		var c *scripted
		for _, k := range s.calls {
			if !k.Over() && k.next <= until && (c == nil || k.next < c.next) {
				c = k
			}
		}
		if c == nil {
			return
		}
		s.now = max(s.now, c.next)
		was := c.next
		s.tell(c, fmt.Sprintf("  -> %v ", time.Duration(s.now)), s.d.Passed(s.now, &c.Call))
		if !c.Over() && c.next == was {
			s.t.Fatalf("%s: Passed at %v and nothing has changed", c.name, was)
		}
	}
}

// tell prints a step, and remembers when Passed is to be reported.
func (s *script) tell(c *scripted, prefix string, step *Step) {
	var parts []string
	for _, n := range step.Cancel {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("cancel %d", n))
		}
	}
	switch step.Do {
	case Send:
		what := "send"
		if step.Hedge {
			what = "hedge"
		}
		parts = append(parts, fmt.Sprintf("%s %d until %v", what, step.Attempt, step.Limit))
	case Answer:
		parts = append(parts, fmt.Sprintf("answer %d", step.Attempt))
	case GiveUp:
		why := "give up " + step.Reason.String()
		if step.Attempt != 0 {
			why += fmt.Sprintf(" as %d says", step.Attempt)
		}
		if step.After > 0 {
			why += fmt.Sprintf(" for %v", step.After)
		}
		parts = append(parts, why)
	default:
		parts = append(parts, "go on")
	}
	if step.Next != unit.Never {
		parts = append(parts, fmt.Sprintf("next %v", step.Next))
	}
	fmt.Fprintf(&s.out, "%s%s: %s\n", prefix, c.name, strings.Join(parts, ", "))
	c.next = step.Next
	if step.Do == Send && !c.untold {
		s.d.Sent(s.now, &c.Call, step.Attempt)
	}
}

func (s *script) state() {
	x := s.d.State(s.now)
	fmt.Fprintf(&s.out, "calls %d, answered %d, attempts %d, retries %d, hedges %d (%d won)\n",
		x.Calls, x.Answered, x.Attempts, x.Retries, x.Hedges, x.HedgesWon)
	fmt.Fprintf(&s.out, "budget left %d, for hedges %d; over budget %d, hedges %d; held: hedges %d, by breaker %d, by throttle %d\n",
		x.BudgetLeft, x.HedgeBudgetLeft, x.RetriesOverBudget, x.HedgesOverBudget, x.HedgesHeld, x.HeldByBreaker, x.HeldByThrottle)
	breaker := x.Breaker.String()
	if x.BreakerUntil > 0 && x.BreakerUntil != unit.Never {
		breaker += " until " + x.BreakerUntil.String()
	}
	fmt.Fprintf(&s.out, "breaker %s; median %v of %d; hold until %v; %d in flight\n",
		breaker, x.Median.Round(100*time.Microsecond), x.Samples, x.HoldUntil, s.flying())
}

func (s *script) flying() (n int) {
	for _, c := range s.calls {
		for _, f := range c.flying {
			if f.attempt != 0 {
				n++
			}
		}
	}
	return n
}

func (s *script) call(name string) *scripted {
	i := slices.IndexFunc(s.calls, func(c *scripted) bool { return c.name == name })
	if i < 0 {
		s.t.Fatalf("no call %q", name)
	}
	return s.calls[i]
}

func (s *script) outcome(words []string) Outcome {
	results := []string{OK: "ok", Refused: "refused", Unsent: "unsent", Broken: "broken", Fault: "fault", Neutral: "neutral"}
	i := slices.Index(results, words[0])
	if i < 0 {
		s.t.Fatalf("no result %q", words[0])
	}
	o := Outcome{Result: Result(i)}
	for _, word := range words[1:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "after":
			o.After = s.duration(value)
		case "never":
			o.Never = true
		case "always":
			o.Always = true
		default:
			s.t.Fatalf("ended: %q", word)
		}
	}
	return o
}

// policyKeys are what a policy line may say. Pauses are not jittered.
var policyKeys = map[string]func(s *script, p *Policy, value string){
	"timeout":     func(s *script, p *Policy, v string) { p.Timeout = s.duration(v) },
	"reserve":     func(s *script, p *Policy, v string) { p.Reserve = s.duration(v) },
	"retries":     func(s *script, p *Policy, v string) { p.Retries = s.number(v) },
	"base":        func(s *script, p *Policy, v string) { p.Backoff.Base = s.duration(v) },
	"budget":      func(s *script, p *Policy, v string) { p.Budget = s.budget(v) },
	"hedge":       func(s *script, p *Policy, v string) { p.Hedge.After = s.duration(v) },
	"percentile":  func(s *script, p *Policy, v string) { p.Hedge.Percentile = s.number(v) },
	"hedgebudget": func(s *script, p *Policy, v string) { p.Hedge.Budget = s.budget(v) },
	"consecutive": func(s *script, p *Policy, v string) { p.Breaker.Consecutive = s.number(v) },
	"openfor":     func(s *script, p *Policy, v string) { p.Breaker.OpenFor = s.duration(v) },
	"probes":      func(s *script, p *Policy, v string) { p.Breaker.Probes = s.number(v) },
}

func (s *script) policy(words []string) Policy {
	p := Policy{Backoff: Backoff{Jitter: NoJitter}}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		set, ok := policyKeys[key]
		if !ok {
			s.t.Fatalf("policy: %q", word)
		}
		set(s, &p, value)
	}
	return p
}

// budget reads "off", "PERCENT+FLOOR" or "PERCENT/TOKENS".
func (s *script) budget(v string) Budget {
	if v == "off" {
		return Budget{Off: true}
	}
	if percent, tokens, ok := strings.Cut(v, "/"); ok {
		return Budget{Percent: float64(s.number(percent)), Tokens: s.number(tokens)}
	}
	percent, floor, _ := strings.Cut(v, "+")
	return Budget{Percent: float64(s.number(percent)), Floor: s.number(floor)}
}

func (s *script) duration(v string) time.Duration {
	d, err := time.ParseDuration(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) number(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
