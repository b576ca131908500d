package call

import (
	"errors"
	"fmt"
	"time"
)

// What zero stands for, and bounds that have no field.
const (
	// BudgetPercentDefault and BudgetFloorDefault are what the zero Budget
	// stands for: load grows to 1.1 times at most, and a lone call at a quiet hour
	// may still be tried again.
	BudgetPercentDefault = 10
	BudgetFloorDefault   = 3

	// WindowDefault is of Breaker and Throttle: shorter than what a person waits
	// for, longer than most calls take.
	WindowDefault = 10 * time.Second
	// MinCallsDefault: at 20 calls and a true failure rate of 10 %, half of them
	// fail by chance once in 10^5 windows.
	MinCallsDefault = 20
	// OpenForDefault and OpenMaxDefault: a dependency is asked again after a
	// second, and never left unasked for longer than five.
	OpenForDefault = time.Second
	OpenMaxDefault = 5 * time.Second
	// ProbesDefault is enough that one that hangs does not decide alone.
	ProbesDefault = 3
	// ProbesMax is how many probes a breaker can tell apart.
	ProbesMax = 16
	// ProbeTimeoutDefault is how long a probe holds its place.
	ProbeTimeoutDefault = 5 * time.Second
	// RecoverMax bounds how long a breaker that has closed admits a share only.
	RecoverMax = 8 * time.Second

	// ThrottleCalls is how many attempts must have ended for their share to mean
	// anything.
	ThrottleCalls = 20
	// ThrottleMost is the largest share that is refused, in percent: what is left
	// are the probes that find out when it is over.
	ThrottleMost = 90
	// KMin and KMax bound Throttle.K. Below 1 even a dependency that refuses
	// nothing would be sent less than it takes.
	KMin, KMax = 1, 100
)

func (b Budget) withDefaults() Budget {
	if b == (Budget{}) {
		return Budget{Percent: BudgetPercentDefault, Floor: BudgetFloorDefault}
	}
	return b
}

func (b Budget) validate() error {
	switch {
	case !(b.Percent >= 0 && b.Percent <= 1000):
		return fmt.Errorf("percent is %v; write 0 to 1000", b.Percent)
	case b.Floor < 0 || b.Floor > countMax:
		return fmt.Errorf("floor is %d; write 0 to %d", b.Floor, countMax)
	case b.Tokens < 0 || b.Tokens > countMax:
		return fmt.Errorf("tokens is %d; write 0 to %d", b.Tokens, countMax)
	}
	return nil
}

// countMax bounds what is counted one by one.
const countMax = 1_000_000

func (b Backoff) validate() error {
	switch {
	case b.Base < 0:
		return fmt.Errorf("base is %v; write 0 or more", b.Base)
	case b.Max < 0 || b.Max > 0 && b.Max < b.Base:
		return fmt.Errorf("max is %v; write %v (the base) or more, or 0 for none", b.Max, b.Base)
	case b.Jitter > NoJitter:
		return errors.New("jitter is none of full, equal, decorrelated, none")
	}
	return nil
}

func (b Breaker) withDefaults() Breaker {
	def := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	defTime := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	defTime(&b.Window, WindowDefault)
	def(&b.MinCalls, MinCallsDefault)
	defTime(&b.OpenFor, OpenForDefault)
	defTime(&b.OpenMax, max(OpenMaxDefault, b.OpenFor))
	def(&b.Probes, ProbesDefault)
	defTime(&b.ProbeTimeout, ProbeTimeoutDefault)
	return b
}

func (b Breaker) validate() error {
	switch {
	case !isPercent(b.Failures):
		return fmt.Errorf("failures is %v %%; write 0 to 100", b.Failures)
	case !isPercent(b.Slow):
		return fmt.Errorf("slow is %v %%; write 0 to 100", b.Slow)
	case b.Slow > 0 && b.SlowAfter <= 0:
		return errors.New("slow needs slow_after: say from when on a call is slow")
	case b.SlowAfter < 0:
		return fmt.Errorf("slow_after is %v; write 0 or more", b.SlowAfter)
	case b.Consecutive < 0 || b.Consecutive > countMax:
		return fmt.Errorf("consecutive is %d; write 0 to %d", b.Consecutive, countMax)
	case b.Window < 0 || b.Window > timeMax:
		return fmt.Errorf("window is %v; write 0 to %v", b.Window, timeMax)
	case b.MinCalls < 0 || b.MinCalls > countMax:
		return fmt.Errorf("min_calls is %d; write 0 to %d", b.MinCalls, countMax)
	case b.OpenFor < 0 || b.OpenFor > timeMax:
		return fmt.Errorf("open_for is %v; write 0 to %v", b.OpenFor, timeMax)
	case b.OpenMax < 0 || b.OpenMax > timeMax || b.OpenMax > 0 && b.OpenMax < b.OpenFor:
		return fmt.Errorf("open_max is %v; write %v (open_for) to %v", b.OpenMax, b.OpenFor, timeMax)
	case b.Probes < 0 || b.Probes > ProbesMax:
		return fmt.Errorf("probes is %d; write 1 to %d", b.Probes, ProbesMax)
	case b.ProbeTimeout < 0 || b.ProbeTimeout > timeMax:
		return fmt.Errorf("probe_timeout is %v; write 0 to %v", b.ProbeTimeout, timeMax)
	}
	return nil
}

// timeMax bounds how far a breaker or a throttle looks back or ahead.
const timeMax = time.Hour

func isPercent(x float64) bool { return x >= 0 && x <= 100 }

func (t Throttle) withDefaults() Throttle {
	if t.Window <= 0 {
		t.Window = WindowDefault
	}
	return t
}

func (t Throttle) validate() error {
	switch {
	case t.K != 0 && !(t.K >= KMin && t.K <= KMax):
		return fmt.Errorf("k is %v; write %d to %d, or 0 for none", t.K, KMin, KMax)
	case t.Window < 0 || t.Window > timeMax:
		return fmt.Errorf("window is %v; write 0 to %v", t.Window, timeMax)
	}
	return nil
}
