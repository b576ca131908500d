package plan_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
)

// A config with nothing wrong is not warned of: the tests below rely on it.
func TestQuietWhereAllIsWell(t *testing.T) {
	p := plan.Make(oneClass(40, 100*ms, func(c *plan.Class) { c.Expect.Rate = 300 }))
	if len(p.Warnings) > 0 || p.Upstreams["u"].State != "stable" {
		t.Errorf("%s\n%s", p.Upstreams["u"].State, strings.Join(p.Warnings, "\n"))
	}
	if p.Finding != "The expected rate fits, and no warnings." {
		t.Error(p.Finding)
	}
}

// One change to a sound class of 40 slots, 100 ms, 300 ms budget, 1 s deadline:
// one warning, with the fix.
func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*plan.Class)
		words  []string
	}{
		{"call.timeout above deadline", func(c *plan.Class) { c.Call.Timeout = 2 * time.Second },
			[]string{"call.timeout 2 s is longer than deadline 1 s", "set it below"}},
		{"deadline above max_deadline", func(c *plan.Class) { c.MaxDeadline = 500 * ms },
			[]string{"deadline 1 s is above max_deadline 500 ms", "raise max_deadline"}},
		{"attempts that do not fit", func(c *plan.Class) { c.Call = plan.Call{Timeout: 600 * ms, Retries: 1, RetryBudget: 0.1} },
			[]string{"2 attempts of up to 600 ms do not fit into deadline 1 s", "call.timeout to 500 ms"}},
		{"caller shorter than the class", func(c *plan.Class) { c.Expect.CallersTimeouts = []time.Duration{5 * time.Second, 800 * ms} },
			[]string{"caller 2 from outside gives up after 800 ms, before the deadline of this class (1 s)", "grow outwards"}},
		{"outer caller shorter than the inner", func(c *plan.Class) { c.Expect.CallersTimeouts = []time.Duration{2 * time.Second, 3 * time.Second} },
			[]string{"caller 1 from outside gives up after 2 s, before the timeout of caller 2 (3 s)"}},
		{"budget above deadline", func(c *plan.Class) { c.Deadline = 200 * ms },
			[]string{"budget.latency 300 ms is longer than deadline 200 ms"}},
		{"block above deadline", func(c *plan.Class) { c.Block = 2 * time.Second },
			[]string{"producers are blocked for up to 2 s"}},
		{"no time to wait", func(c *plan.Class) { c.Budget.Latency = 100 * ms },
			[]string{"the budget leaves no time to wait"}},
		{"a bound tuned last year", func(c *plan.Class) { c.Bound = 1000 },
			[]string{"keeps its last request waiting 2.5 s, the budget allows 200 ms", "not headroom but a longer time of being saturated unnoticed", "remove it and 80 is derived"}},
		{"a very deep room", func(c *plan.Class) {
			c.Budget.Latency, c.Deadline, c.MaxDeadline = 2*time.Second, 2*time.Second, 2*time.Second
		},
			[]string{"a very deep room: its last request waits 1.9 s", "saturated unnoticed"}},
		{"no memory limit", func(c *plan.Class) { c.Memory = plan.Memory{} },
			[]string{"no memory limit; give memory.limit"}},
		{"memory below one request", func(c *plan.Class) { c.Memory = plan.Memory{Limit: 1 << 10, PerRequest: 2 << 10} },
			[]string{"one request of 2 KiB is more than the memory limit of 1 KiB"}},
		{"retry budget off", func(c *plan.Class) { c.Call = plan.Call{Retries: 2, RetryBudgetOff: true} },
			[]string{"retry budget is off", "every request becomes 3 calls", "10 %"}},
		{"layers multiply", func(c *plan.Class) { c.Expect.CallersAttempts = []int{3, 3} },
			[]string{"one request can become 9 calls (3 x 3 x 1)", "one layer only"}},
		{"rung without a limit", func(c *plan.Class) { c.Rungs = []plan.Rung{{Name: "list", Upstream: "cheap"}} },
			[]string{"rung list calls cheap, which has no limit", "upstreams.cheap.slots"}},
		{"borrow that cannot be had", func(c *plan.Class) { c.Borrow = 5 },
			[]string{"slots and borrow come to more than the 40 slots of u", "borrow to 0"}},
		{"tenant queue above the bound", func(c *plan.Class) {
			c.Tenants = plan.Tenants{Queue: 100, Named: []plan.Tenant{{"a", 1}, {"b", 1}}}
		}, []string{"tenant.queue 100 is above the bound 80"}},
		{"tenant queue longer than its deadline", func(c *plan.Class) {
			c.Tenants = plan.Tenants{Queue: 30, Named: []plan.Tenant{{"big", 79}, {"small", 1}}}
		}, []string{"tenant small: a full queue of 30 takes 6 s at 5/s, more than the deadline of 1 s", "at most 4"}},
		{"weight zero", func(c *plan.Class) { c.Tenants.Named = []plan.Tenant{{"a", 1}, {"b", 0}} },
			[]string{"tenant b: weight 0 is never served"}},
		{"no share under fifo", func(c *plan.Class) {
			c.Tenants = plan.Tenants{Policy: "fifo", Named: []plan.Tenant{{"a", 1}}}
		}, []string{"policy fifo promises no share"}},
		{"unknown quota", func(c *plan.Class) { c.Quotas = []string{"nope"} },
			[]string{"quota nope is not defined"}},
		{"pauses that do not fit", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 300 * ms, Retries: 2, RetryBudget: 0.1, Backoff: plan.Backoff{Base: 100 * ms, Max: 150 * ms}}
		}, []string{"3 attempts of up to 300 ms and 250 ms of pauses do not fit into deadline 1 s", "call.timeout to 250 ms"}},
		{"nothing but pauses", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 300 * ms, Retries: 1, RetryBudget: 0.1, Reserve: 500 * ms, Backoff: plan.Backoff{Base: time.Second}}
		}, []string{"2 attempts of up to 300 ms and 1 s of pauses do not fit into deadline 500 ms", "lower the retries"}},
		{"hedge without a budget", func(c *plan.Class) { c.Call.Hedge = plan.Hedge{After: 150 * ms, BudgetOff: true} },
			[]string{"the hedge budget is off", "every call is made twice", "call.hedge.budget to 10 %"}},
		{"a hedge that never acts", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 200 * ms, Hedge: plan.Hedge{After: 200 * ms, Budget: 0.1}}
		}, []string{"hedge.after 200 ms is no shorter than the limit of a try, 200 ms"}},
		{"a hedge of ordinary calls", func(c *plan.Class) { c.Call.Hedge = plan.Hedge{After: 50 * ms, Budget: 0.1} },
			[]string{"100 % of calls are slower than hedge.after and the budget is 10 %", "p95"}},
		{"retries of a POST that nobody knows again", func(c *plan.Class) { c.Posts, c.Call = true, plan.Call{Retries: 1, RetryBudget: 0.1} },
			[]string{"it retries POST or PATCH, and nothing says that u knows a request again", "honours_keys"}},
		{"a window shorter than a call", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 300 * ms, Breaker: plan.Breaker{Window: 200 * ms}}
		}, []string{"breaker.window 200 ms is shorter than call.timeout 300 ms"}},
		{"slow that is over first", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 300 * ms, Breaker: plan.Breaker{Window: time.Second, SlowAfter: 300 * ms}}
		}, []string{"breaker.slow_after 300 ms is no shorter than call.timeout 300 ms"}},
		{"a probe that another call would wait for", func(c *plan.Class) {
			c.Call = plan.Call{Timeout: 300 * ms, Breaker: plan.Breaker{Window: time.Second, ProbeTimeout: 100 * ms}}
		}, []string{"breaker.probe_timeout 100 ms is shorter than call.timeout 300 ms"}},
		{"a breaker that sees too little", func(c *plan.Class) {
			c.Expect.Rate, c.Call.Breaker = 1, plan.Breaker{Window: 10 * time.Second, MinCalls: 20, Shares: true}
		}, []string{"judges by shares from 20 calls in 10 s on, and 10 come at the expected rate", "window to 20 s or give consecutive"}},
		{"fewer measurements than false timeouts need", func(c *plan.Class) {
			c.Measured = plan.Measured{Times: []time.Duration{ms, 2 * ms}, From: "access.log"}
		}, []string{"2 measured calls are too few to propose a timeout at 0.1 % false ones", "measure 8,000 or more"}},
		{"a rate that is none", func(c *plan.Class) { c.Expect.Rate = math.NaN() },
			[]string{"the expected rate is not a number of zero or more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan.Make(oneClass(40, 100*ms, tt.change))
			wantWarning(t, p, append([]string{"class c"}, tt.words...)...)
			if len(p.Warnings) != 1 {
				t.Errorf("%d warnings:\n%s", len(p.Warnings), strings.Join(p.Warnings, "\n"))
			}
		})
	}
}

func TestWarningsOfUpstreams(t *testing.T) {
	t.Run("works on for who has left", func(t *testing.T) {
		in := oneClass(40, 100*ms, func(c *plan.Class) { c.Call.Timeout = 300 * ms })
		in.Upstreams[0].StopsAfter = 5 * time.Second
		wantWarning(t, plan.Make(in), "class c: a try ends after 300 ms and u gives up after 5 s: for 4.7 s it works for who has left")
		in.Upstreams[0].StopsAtDeadline = true
		wantWarning(t, plan.Make(in), "u would stop at a deadline and is not told it; set call.pass_deadline")
		in.Classes[0].Call.PassDeadline = true
		if p := plan.Make(in); len(p.Warnings) > 0 {
			t.Errorf("it stops where the call does, and: %v", p.Warnings)
		}
	})
	t.Run("without a limit: what its classes let through stands in", func(t *testing.T) {
		in := oneClass(40, 100*ms, nil)
		in.Upstreams[0].Slots = 0
		in.Upstreams[0].Kind = "dependency"
		p := plan.Make(in)
		wantWarning(t, p, "dependency u: has no limit", "give its slots")
		if got := p.Upstreams["u"].SustainablePerS; got != 400 {
			t.Errorf("sustainable %v", got)
		}
	})
	t.Run("promised twice", func(t *testing.T) {
		in := oneClass(40, 100*ms, nil)
		second := in.Classes[0]
		second.Name, second.Slots = "d", plan.Fixed(8)
		in.Classes = append(in.Classes, second)
		wantWarning(t, plan.Make(in), "upstream u", "guaranteed 48 slots together, it has 40", "lower class slots by 8")
	})
	t.Run("idle slots that nobody may borrow", func(t *testing.T) {
		// Nearly all traffic in a class with a tenth of the slots (kubernetes PR#95259).
		in := oneClass(4, 100*ms, func(c *plan.Class) { c.Expect.Rate = 100 })
		in.Upstreams[0].Slots = 40
		rare := in.Classes[0]
		rare.Name, rare.Slots, rare.Expect.Rate = "rare", plan.Fixed(36), 50 // uses 5
		in.Classes = append(in.Classes, rare)
		wantWarning(t, plan.Make(in), "class c", "may borrow 0 while about 31 slots of other classes of u stand idle", "set borrow to 6")
		in.Classes[0].Borrow = 2
		wantWarning(t, plan.Make(in), "class c", "may borrow 2 while")
		quiet := func(why string) {
			t.Helper()
			for _, w := range plan.Make(in).Warnings {
				if strings.Contains(w, "stand idle") {
					t.Errorf("%s, and: %s", why, w)
				}
			}
		}
		in.Classes[0].Borrow = 6
		quiet("it may borrow all it needs")
		in.Classes[0].Borrow, in.Classes[1].Expect.Rate = 0, 0
		quiet("nothing is known of the other class")
		in.Classes[1].Expect.Rate = 400
		quiet("the other class is busy")
	})
	t.Run("more class slots than it has are not counted", func(t *testing.T) {
		in := oneClass(64, 100*ms, nil)
		in.Upstreams[0].Slots = 16
		if c := plan.Make(in).Classes["c"]; c.Slots != 64 || c.ThroughputPerS != 160 {
			t.Errorf("%d slots, %v/s", c.Slots, c.ThroughputPerS)
		}
	})
	t.Run("adaptive slots settle at what it has", func(t *testing.T) {
		in := oneClass(40, 100*ms, func(c *plan.Class) { c.Slots = plan.Adaptive(4, 20, 400) })
		p := plan.Make(in)
		if c := p.Classes["c"]; c.Slots != 40 || c.ThroughputPerS != 400 || len(p.Warnings) > 0 {
			t.Errorf("%d slots, %v/s, %v", c.Slots, c.ThroughputPerS, p.Warnings)
		}
		in.Upstreams[0].Slots = 0
		if c := plan.Make(in).Classes["c"]; c.Slots != 20 {
			t.Errorf("%d slots of an upstream of which nothing is known, want the start", c.Slots)
		}
	})
	t.Run("nothing known of time", func(t *testing.T) {
		in := oneClass(40, 100*ms, func(c *plan.Class) { c.Budget.Service = 0 })
		in.Upstreams[0].Service = nil
		p := plan.Make(in)
		wantWarning(t, p, "no service time is known", "upstreams.u.service")
		if c := p.Classes["c"]; c.ThroughputPerS.Known() || c.BoundFrom != plan.FromMemory {
			t.Errorf("throughput %v, bound from %v", c.ThroughputPerS, c.BoundFrom)
		}
	})
	t.Run("no slots at all", func(t *testing.T) {
		p := plan.Make(oneClass(0, 100*ms, func(c *plan.Class) { c.Expect.Rate = 5 }))
		wantWarning(t, p, "class c", "no guaranteed slots")
		if c := p.Classes["c"]; c.ThroughputPerS != 0 || c.BacklogGrowthPerS != 5 || c.Bound != 1 || c.DrainS.Known() {
			t.Errorf("%+v", c)
		}
	})
}

// Two classes that retry differently are weighed by what they send.
func TestRetriesWeighedByRate(t *testing.T) {
	in := oneClass(40, 100*ms, func(c *plan.Class) {
		c.Slots, c.Expect.Rate, c.Call = plan.Fixed(20), 100, plan.Call{Retries: 2, RetryBudgetOff: true}
	})
	calm := in.Classes[0]
	calm.Name, calm.Call = "calm", plan.Call{}
	in.Classes = append(in.Classes, calm)
	u := plan.Make(in).Upstreams["u"]
	if u.StableBelowPerS != 200 || u.State != "metastable" { // (3 + 1) / 2 calls a request
		t.Errorf("stable below %v, %s", u.StableBelowPerS, u.State)
	}
	in.Classes[1].Expect.Rate = 0 // not known: the worst counts
	if u := plan.Make(in).Upstreams["u"]; u.StableBelowPerS != plan.Number(400.0/3) {
		t.Errorf("stable below %v", u.StableBelowPerS)
	}
}

// Where no service time is known, nothing is said of a cut whose other side is not
// known either.
func TestNothingIsCutFromWhatIsUnknown(t *testing.T) {
	p := plan.Make(plan.Input{
		Upstreams: []plan.Upstream{{Name: "app", Slots: 4}},
		Classes: []plan.Class{{
			Name: "main", Upstream: "app", Slots: plan.Fixed(4), Deadline: time.Second, MaxDeadline: time.Second,
			Budget: plan.Budget{Latency: 200 * ms}, Memory: plan.Memory{Limit: 64 << 20, PerRequest: 64 << 10},
		}},
	})
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "no service time is known") || p.Classes["main"].Bound != 1024 {
		t.Errorf("bound %d, warnings:\n%s", p.Classes["main"].Bound, strings.Join(p.Warnings, "\n"))
	}
}
