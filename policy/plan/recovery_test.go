package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/plan"
)

// fluid is an outage and what follows it, step by step: a server of capacity a second
// with one queue in the order of arrival, dead work and all. While the head of the
// queue is older than the timeout no answer is in time and everything is tried
// attempts times. It says when the head is young again, in seconds after the outage.
func fluid(rate, attempts, capacity float64, timeout, outage time.Duration) float64 {
	const step = 0.001
	came := []float64{} // what came in step i
	head, rest := 0, 0.0
	for i := 0; ; i++ {
		now := float64(i) * step
		since := now - outage.Seconds()
		late := since < 0 || now-float64(head)*step > timeout.Seconds()
		if !late {
			return since
		}
		if since > 600 {
			return math.Inf(1)
		}
		came = append(came, rate*attempts*step)
		if since < 0 {
			continue
		}
		for rest += capacity * step; head < len(came) && rest >= came[head]; head++ {
			rest -= came[head]
		}
		if head == len(came) {
			rest = 0
		}
	}
}

// The example of Bronson et al. (HotOS 2021) at 300/s, a timeout of 1 s and an outage
// of 10 s: the formula says what happens step by step, and where nothing helps.
func TestRecoveryOfAQueueInOrder(t *testing.T) {
	for _, tt := range []struct {
		rate, attempts float64
		returns        bool
	}{
		{120, 1, true}, {120, 2, true}, {120, 4, false}, {120, 1.1, true},
		{160, 2, false}, {160, 4, false}, {160, 1.1, true},
		{240, 1, true}, {240, 2, false}, {240, 4, false}, {240, 1.1, true},
		{280, 1, true}, {280, 2, false}, {280, 1.1, false},
		{20, 1, true},
	} {
		t.Run(fmt.Sprintf("%v/s, %v attempts", tt.rate, tt.attempts), func(t *testing.T) {
			got := plan.RecoveryInOrder(tt.rate, tt.attempts, 300, time.Second, 10*time.Second)
			want := fluid(tt.rate, tt.attempts, 300, time.Second, 10*time.Second)
			if math.IsInf(got, 1) == tt.returns || math.IsInf(want, 1) == tt.returns {
				t.Fatalf("formula %v, step by step %v; returns: %v", got, want, tt.returns)
			}
			if tt.returns && math.Abs(got-want) > 0.05*got+0.1 {
				t.Errorf("formula %v s, step by step %v s", got, want)
			}
		})
	}
}

func TestRecoveryOfNumbersThatMeanNothing(t *testing.T) {
	for name, got := range map[string]float64{
		"no requests":            plan.RecoveryInOrder(0, 3, 300, time.Second, 10*time.Second),
		"no outage":              plan.RecoveryInOrder(100, 3, 300, time.Second, 0),
		"no outage, live":        plan.Recovery(0, 100, 300),
		"nothing limits":         plan.RecoveryInOrder(100, 3, math.Inf(1), time.Second, 10*time.Second),
		"nothing limits, live":   plan.Recovery(10, 100, math.Inf(1)),
		"patience outlasts it":   plan.RecoveryInOrder(100, 1, 300, time.Minute, 10*time.Second),
		"a rate that is none":    plan.RecoveryInOrder(math.NaN(), 1, 300, time.Second, 10*time.Second),
		"a backlog that is none": plan.Recovery(math.NaN(), 100, 300),
	} {
		if got != 0 {
			t.Errorf("%s: %v s", name, got)
		}
	}
	if got := plan.Recovery(10, 300, 300); !math.IsInf(got, 1) {
		t.Errorf("as much comes as can be done, and it ends after %v s", got)
	}
	if got := plan.Recovery(10, 1, math.NaN()); !math.IsNaN(got) {
		t.Errorf("nothing is known of it, and it recovers in %v s", got)
	}
}

// At 280/s of 300/s a 10 % budget does not save a queue in order; the waiting room,
// which drops what has expired, needs none.
func TestTheOrderOfTheQueueMattersMoreThanTheBudget(t *testing.T) {
	in := oneClass(30, 100*ms, func(c *plan.Class) {
		c.Deadline, c.Budget.Latency = time.Second, 500*ms
		c.Expect.Rate = 280
		c.Call = plan.Call{Timeout: time.Second, Retries: 3, RetryBudget: 0.1, PassDeadline: true}
	})
	in.Upstreams[0].StopsAtDeadline = true
	u := plan.Make(in).Upstreams["u"]
	if u.RecoveryInOrderS.Known() || u.OutageS != 10 {
		t.Errorf("in order %v s after an outage of %v s, want never", u.RecoveryInOrderS, u.OutageS)
	}
	// 120 wait at most ((500 - 100) ms x 300/s), 20/s more are served than come.
	if u.RecoveryS != 6 {
		t.Errorf("through the waiting room %v s, want 120 / (300 - 280)", u.RecoveryS)
	}

	in.Upstreams[0].StopsAtDeadline = false
	u = plan.Make(in).Upstreams["u"]
	if u.RecoveryS.Known() {
		t.Errorf("%v s although attempts that were given up run on there", u.RecoveryS)
	}

	in.Classes[0].Call = plan.Call{}
	if u = plan.Make(in).Upstreams["u"]; u.RecoveryS != 6 {
		t.Errorf("one attempt a request: %v s, want 6", u.RecoveryS)
	}
	in.Classes[0].Slots = plan.Fixed(31)
	if u = plan.Make(in).Upstreams["u"]; u.RecoveryS != u.RecoveryInOrderS {
		t.Errorf("31 are let through to 30 slots: %v s, in order %v s", u.RecoveryS, u.RecoveryInOrderS)
	}
	in.Classes[0].Slots, in.Outage = plan.Fixed(30), 100*ms
	if u = plan.Make(in).Upstreams["u"]; math.Abs(float64(u.RecoveryS)-1.4) > 1e-9 || u.OutageS != 0.1 {
		t.Errorf("after %v s %v s, want 28 / (300 - 280)", u.OutageS, u.RecoveryS)
	}
	in.Classes[0].Order = "fifo"
	u = plan.Make(in).Upstreams["u"]
	for _, f := range u.Figures {
		if f.Name == "recovery_s" && !strings.Contains(f.Assumption, "with order fifo new requests wait behind it") {
			t.Errorf("the order is fifo, and: %s", f.Assumption)
		}
		if strings.HasPrefix(f.Name, "recovery") && (f.Formula == "" || f.Assumption == "") {
			t.Errorf("%+v", f)
		}
	}
}
