package config

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Call is how a class calls its upstream.
type Call struct {
	Timeout      Duration      `yaml:"timeout" min:"1ms" max:"24h" doc:"The longest one try may take, an attempt and perhaps a hedge beside it. Default: what is left of the deadline."`
	Reserve      Duration      `yaml:"reserve" min:"1us" max:"1m" doc:"How much of the deadline is kept back, so that the answer still arrives inside it. Default: nothing."`
	PassDeadline Switch        `yaml:"pass_deadline" default:"on" doc:"Whether what is left of the deadline, or of the timeout where that ends sooner, travels on, as grpc-timeout or x-envoy-expected-rq-timeout-ms."`
	Retries      int           `yaml:"retries" default:"0" min:"0" max:"100" large:"3" doc:"How many further tries may follow one that failed. What may have run is tried again only where twice is the same as once: GET, PUT, DELETE, or a key that the upstream honours (upstreams.NAME.honours_keys)."`
	RetryBudget  AttemptBudget `yaml:"retry_budget" default:"10%" doc:"How many retries there may be over all calls of the class: a share of its first attempts, with a floor of 3 at once, or keys. off is allowed and warned of: then a dependency that fails gets all the more to do."`
	Backoff      Backoff       `yaml:"backoff" doc:"How long to pause before a retry: keys, or off for no pause. A retry that could not be sent before the deadline is not waited for."`
	Hedge        Hedge         `yaml:"hedge" doc:"A second attempt beside a first that is slow, to another copy where there is one; whichever answers first is the answer, the other is cut off. Not while the breaker is open or the upstream slow as a whole. Default: none."`
	Breaker      Breaker       `yaml:"breaker" doc:"When to stop calling for a while. Any of failures, slow and consecutive opens it. Default: never."`
	Throttle     Throttle      `yaml:"throttle" doc:"A share of calls is refused here that the upstream would refuse there. Default: none."`
}

// AttemptBudget bounds what is sent beside first attempts: a share of them, a token
// bucket, or off.
type AttemptBudget struct {
	Off     bool    `yaml:"-"`
	Percent Percent `yaml:"percent" default:"10%" min:"0.1%" doc:"Of the first attempts of the last ten seconds; with tokens: how much of a token each answered call puts in."`
	Floor   int     `yaml:"floor" min:"1" max:"1000" doc:"So many more at once, each of which takes 30s to come back, or nothing could be tried again while little is asked. Default: 3. Not with tokens."`
	Tokens  int     `yaml:"tokens" min:"1" max:"1000000" doc:"A token bucket instead: the most it holds, and what it starts with. Each retry or hedge takes one. It gives less the more fails, and nothing while all do."`
}

const (
	defaultBudget = Percent(10) // 20 % is the habit elsewhere; 10 % does not tip in the fallback lab
	defaultFloor  = 3           // a call alone may still be tried three times (Finagle and Linkerd keep such a floor too)
)

const budgetFix = "write a share such as 10%, off, or keys as in { percent: 10%, floor: 3 }"

func (b *AttemptBudget) parse(tag, text string) error {
	if text == "off" {
		*b = AttemptBudget{Off: true}
		return nil
	}
	if text == "" { // of a mapping with nothing in it
		return bad(budgetFix, "says nothing")
	}
	if err := b.Percent.parse(tag, text); err != nil {
		return err
	}
	if b.Percent == 0 {
		return bad("leave retries or hedge out for none, or write off for no budget", "a budget of 0%% allows none")
	}
	return nil
}

func (b AttemptBudget) format() string {
	switch {
	case b.Off:
		return "off"
	case b.Percent == 0:
		return ""
	}
	return b.Percent.String()
}

func (b AttemptBudget) hasScalar() bool {
	return b.Off || b.Percent != 0 && b.Floor == 0 && b.Tokens == 0
}
func (AttemptBudget) kind() string { return "percent, off" }
func (AttemptBudget) schema() map[string]any {
	return anyOf(offSchema(), Percent(0).schema())
}

func (b *AttemptBudget) fill() {
	if b.Off {
		return
	}
	b.Percent = cmp.Or(b.Percent, defaultBudget)
	if b.Tokens == 0 {
		b.Floor = cmp.Or(b.Floor, defaultFloor)
	}
}

// Backoff is how long to pause before a retry.
type Backoff struct {
	Off    bool     `yaml:"-"`
	Base   Duration `yaml:"base" default:"5ms" min:"1us" max:"1h" doc:"Before the first retry; doubles with each."`
	Max    Duration `yaml:"max" default:"1s" min:"1us" max:"1h" doc:"The longest pause."`
	Jitter Jitter   `yaml:"jitter" default:"full" doc:"How a pause is spread, so that calls that failed together do not come back together: from 0 to the pause (full), from half of it (equal), from base to three times the pause before (decorrelated), or not at all (none)."`
}

func (b *Backoff) parse(_, text string) error {
	b.Off = true
	return readOff(text, "write off, or keys as in { base: 5ms, max: 1s }")
}

func (b Backoff) format() string       { return formatOff(b.Off) }
func (b Backoff) hasScalar() bool      { return b.Off }
func (Backoff) kind() string           { return "off" }
func (Backoff) schema() map[string]any { return offSchema() }

// Jitter is how a pause is spread.
type Jitter string

// The ways; JitterFull is the default.
const (
	JitterFull         Jitter = "full"
	JitterEqual        Jitter = "equal"
	JitterDecorrelated Jitter = "decorrelated"
	JitterNone         Jitter = "none"
)

func (Jitter) values() []string { return []string{"full", "equal", "decorrelated", "none"} }

// Hedge is a second attempt beside a first that is slow.
type Hedge struct {
	After     HedgeAfter    `yaml:"after" required:"true" doc:"How long the first may take before the second is sent: a time from 1us to 1h, as in 10ms, or the part of measured answers that came sooner, p1 to p99."`
	Budget    AttemptBudget `yaml:"budget" default:"10%" doc:"How many second attempts there may be over all calls of the class: as retry_budget, and apart from it. off is allowed and warned of."`
	SlowShare Percent       `yaml:"slow_share" min:"1%" max:"100%" doc:"The upstream is slow as a whole, and nothing is hedged, while of recent first attempts more than this share had not been answered when a hedge was due; 100%: never. Default: twice what after lets through (5% at p95) or budget pays for, whichever is more, from 20% to 80%."`
}

// HedgeAfter is a time or a percentile of measured times.
type HedgeAfter struct {
	Fixed      Duration
	Percentile int // 1 to 99; 0: Fixed counts
}

func (h *HedgeAfter) parse(tag, text string) error {
	if digits, ok := strings.CutPrefix(text, "p"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || !allDigits(digits) || n < 1 || n > 99 {
			return bad("write p1 to p99, or a time such as 10ms", "%s is no percentile to go by", quote(text))
		}
		*h = HedgeAfter{Percentile: n}
		return nil
	}
	var d Duration
	if err := d.parse(tag, text); err != nil {
		return err
	}
	if d < Duration(time.Microsecond) || d > Duration(time.Hour) {
		return bad("give 1us to 1h, or p1 to p99", "is %s", d)
	}
	*h = HedgeAfter{Fixed: d}
	return nil
}

func (h HedgeAfter) format() string {
	if h.Percentile != 0 {
		return "p" + strconv.Itoa(h.Percentile)
	}
	return h.Fixed.String()
}
func (HedgeAfter) kind() string { return "duration or percentile" }
func (HedgeAfter) schema() map[string]any {
	return anyOf(Duration(0).schema(), map[string]any{"type": "string", "pattern": "^p[1-9][0-9]?$", "examples": []any{"p95"}})
}

// Breaker is when to stop calling for a while.
type Breaker struct {
	Failures     Percent  `yaml:"failures" min:"1%" doc:"Share of failed calls in the window that opens it."`
	Slow         Percent  `yaml:"slow" min:"1%" doc:"Share of calls in the window that took longer than slow_after."`
	SlowAfter    Duration `yaml:"slow_after" min:"1us" max:"1h" doc:"From when on an attempt is slow."`
	Consecutive  int      `yaml:"consecutive" min:"1" max:"10000" doc:"Failed calls in a row, however few there are in the window."`
	Window       Duration `yaml:"window" default:"10s" min:"100ms" max:"1h" doc:"How far back shares look."`
	MinCalls     int      `yaml:"min_calls" default:"20" min:"1" max:"1000000" doc:"So many calls in the window are needed to judge by shares."`
	OpenFor      Duration `yaml:"open_for" default:"1s" min:"10ms" max:"1h" doc:"How long nothing is called the first time. Doubles while probes fail, so that the search costs in proportion to the outage."`
	OpenMax      Duration `yaml:"open_max" default:"5s" min:"10ms" max:"1h" doc:"The longest, and with it how long after its recovery an upstream may still be shunned."`
	Probes       int      `yaml:"probes" default:"3" min:"1" max:"16" doc:"How many calls may try it at once when that time is over; the first that is answered well closes it, the first that is not opens it again."`
	ProbeTimeout Duration `yaml:"probe_timeout" min:"1ms" max:"1h" doc:"How long a probe that has not ended keeps its place from others, so that none blocks the way for good; what it says later still counts. Default: timeout; without one 5s, or the deadline if that is shorter."`
}

// The figures are policy/call's, which says where they come from.
const (
	defaultWindow   = Duration(10 * time.Second)
	defaultMinCalls = 20
	defaultOpenFor  = Duration(time.Second)
	defaultOpenMax  = Duration(5 * time.Second)
	defaultProbes   = 3
	defaultProbe    = Duration(5 * time.Second)
)

// Throttle refuses here what would be refused there.
type Throttle struct {
	K      float64  `yaml:"k" required:"true" min:"1.01" max:"100" doc:"So many calls are made for each that is accepted; 2 is usual, 1.1 where a refusal costs the upstream nearly as much as an answer (Google's SRE book, ch. 21)."`
	Window Duration `yaml:"window" default:"10s" min:"1s" max:"10m" doc:"How far back calls and accepted calls are counted. Make it longer than the longest call."`
}

// fill holds what was not written. deadline is the class's.
func (c *Call) fill(deadline Duration) {
	c.PassDeadline = cmp.Or(c.PassDeadline, On)
	c.RetryBudget.fill()
	if b := &c.Backoff; !b.Off {
		if b.Base == 0 {
			b.Base = min(Duration(5*time.Millisecond), cmp.Or(b.Max, Duration(time.Second)))
		}
		b.Max = cmp.Or(b.Max, max(Duration(time.Second), b.Base))
		b.Jitter = cmp.Or(b.Jitter, JitterFull)
	}
	if c.Hedge != (Hedge{}) {
		c.Hedge.Budget.fill()
	}
	if b := &c.Breaker; *b != (Breaker{}) {
		b.Window = cmp.Or(b.Window, defaultWindow)
		b.MinCalls = cmp.Or(b.MinCalls, defaultMinCalls)
		if b.OpenFor == 0 {
			b.OpenFor = min(defaultOpenFor, cmp.Or(b.OpenMax, defaultOpenMax))
		}
		b.OpenMax = cmp.Or(b.OpenMax, max(defaultOpenMax, b.OpenFor))
		b.Probes = cmp.Or(b.Probes, defaultProbes)
		b.ProbeTimeout = cmp.Or(b.ProbeTimeout, c.Timeout, min(defaultProbe, deadline))
	}
	if c.Throttle != (Throttle{}) {
		c.Throttle.Window = cmp.Or(c.Throttle.Window, defaultWindow)
	}
}
