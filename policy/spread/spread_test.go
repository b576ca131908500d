package spread_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// play is a spread of n equal copies and a clock.
type play struct {
	testing.TB
	*spread.Spread
	now unit.Instant
}

func start(t testing.TB, n int, cfg spread.Config) *play {
	p := &play{t, spread.New(cfg, 0), unit.Instant(time.Hour)}
	for range n {
		if _, ok := p.Add(p.now, false); !ok {
			t.Fatal("no room for a copy")
		}
	}
	return p
}

func (p *play) after(d time.Duration) *play { p.now = p.now.Add(d); return p }

func (p *play) take() spread.Copy {
	p.Helper()
	c, ok := p.Take(p.now, spread.None)
	if !ok {
		p.Fatal("no copy")
	}
	return c
}

// call has the copy, whosever turn it is, end a call of 10 ms that began now.
func (p *play) call(c spread.Copy, o spread.Outcome) {
	p.after(10 * time.Millisecond)
	p.Judge(p.now, c, o, 10*time.Millisecond)
}

func (p *play) fail(c spread.Copy, times int) {
	for range times {
		p.call(c, spread.Failed)
	}
}

func (p *play) out(c spread.Copy) bool { return p.State(p.now, c).Out }

// turns takes n requests that end at once and counts who got them.
func (p *play) turns(n, copies int) []int {
	p.Helper()
	got := make([]int, copies)
	for range n {
		c := p.take()
		got[c]++
		p.Done(c)
	}
	return got
}

func TestEqualCopiesTakeTurns(t *testing.T) {
	p := start(t, 3, spread.Config{})
	if got := fmt.Sprint(p.turns(9, 3)); got != "[3 3 3]" {
		t.Errorf("turns %s", got)
	}
}

func TestTheSlowCopyGetsWhatItCanDo(t *testing.T) {
	p := start(t, 2, spread.Config{})
	slow := p.take()
	for range 10 {
		if c := p.take(); c == slow {
			t.Fatal("the copy that still works on the last one got another")
		} else {
			p.Done(c)
		}
	}
}

// What is saturated gets nothing while another is not; when all are, the least
// loaded does, for the gate has let the request in.
func TestASaturatedCopyIsPassedOver(t *testing.T) {
	p := start(t, 2, spread.Config{Slots: 4})
	p.fail(0, 4) // sour, so that copy 1 is preferred
	for i := range 2 {
		if c := p.take(); c != 1 {
			t.Fatalf("request %d went to the sour copy", i)
		}
	}
	if c := p.take(); c != 0 {
		t.Error("copy 1 has its two slots taken, and got a third")
	}
	p.take()
	p.after(time.Minute)
	if a, b := p.take(), p.take(); a == b {
		t.Error("both of two requests too many went to the same copy")
	}
	if got := p.State(p.now, 0); got.Slots != 2 || got.InFlight != 3 {
		t.Errorf("state %+v; want 3 in flight at 2 slots", got)
	}
}

func TestConnectionsCapACopy(t *testing.T) {
	if got := start(t, 2, spread.Config{Slots: 100, Connections: 3}).State(0, 0).Slots; got != 3 {
		t.Errorf("a copy is given %d; 3 connections are fewer than its 50 slots", got)
	}
}

func TestACopyThatFailsFastDoesNotDrawTheTraffic(t *testing.T) {
	p := start(t, 2, spread.Config{Keep: true}) // nobody is ejected
	busy := 0
	for range 100 {
		c := p.take()
		if c == 0 {
			p.call(c, spread.Failed)
			p.Done(c)
			busy++
		}
	}
	if busy > 60 {
		t.Errorf("%d of 100 went to the copy that fails at once", busy)
	}
}

func TestAvoidMeansAnotherIfThereIsOne(t *testing.T) {
	p := start(t, 2, spread.Config{})
	for range 4 {
		if c, _ := p.Take(p.now, 1); c != 0 {
			t.Error("the avoided copy was taken")
		}
	}
	if c, ok := start(t, 1, spread.Config{}).Take(0, 0); !ok || c != 0 {
		t.Error("the only copy is taken, avoided or not")
	}
	if _, ok := start(t, 0, spread.Config{}).Take(0, spread.None); ok {
		t.Error("a copy where there is none")
	}
}

func TestWhatEjects(t *testing.T) {
	const a, b, f, l = spread.Answered, spread.Busy, spread.Failed, spread.Late
	repeat := func(n int, of ...spread.Outcome) (all []spread.Outcome) {
		for range n {
			all = append(all, of...)
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		cfg   spread.Config
		calls []spread.Outcome
		out   bool
	}{
		{"five failures in a row", spread.Config{}, repeat(5, f), true},
		{"four", spread.Config{}, repeat(4, f), false},
		{"five with an answer between", spread.Config{}, []spread.Outcome{f, f, f, a, f, f}, false},
		{"half of twenty", spread.Config{}, repeat(10, a, f), true},
		{"half of eighteen: too few to tell", spread.Config{}, repeat(9, a, f), false},
		{"a third, where half is asked for", spread.Config{}, repeat(20, a, a, f), false},
		{"a third, where a third is", spread.Config{Share: 33}, repeat(20, a, a, f), true},
		{"any number of 'too busy': its load would only move on", spread.Config{}, repeat(100, b), false},
		{"hang-ups of callers", spread.Config{}, repeat(100, spread.Nothing), false},
		{"late, and nobody knows what is usual", spread.Config{}, repeat(5, l), true},
		{"ejection is off", spread.Config{Keep: true}, repeat(100, f), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, 2, tt.cfg)
			for _, o := range tt.calls {
				p.call(0, o)
			}
			if got := p.out(0); got != tt.out {
				t.Errorf("out %v, want %v", got, tt.out)
			}
		})
	}
}

// Otherwise whoever asks for a millisecond could have every copy ejected.
func TestACallerThatAllowsNoTimeEjectsNobody(t *testing.T) {
	p := start(t, 2, spread.Config{})
	for range 10 {
		p.Judge(p.now, 1, spread.Answered, 100*time.Millisecond)
	}
	for range 50 {
		p.Judge(p.now, 0, spread.Late, time.Millisecond)
	}
	if p.out(0) {
		t.Error("ejected for calls that had 1 ms where 100 ms is usual")
	}
	for range 5 {
		p.after(time.Second).Judge(p.now, 0, spread.Late, time.Second)
	}
	if !p.out(0) {
		t.Error("a frozen copy stays in")
	}
}

func TestEjectionGrowsWithRepeatsAndIsForgiven(t *testing.T) {
	p := start(t, 2, spread.Config{For: 10 * time.Second})
	p.fail(0, 5)
	for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} {
		if left := p.State(p.now, 0).Left; left != want {
			t.Fatalf("ejected for %v, want %v", left, want)
		}
		p.after(want - 1)
		if !p.out(0) {
			t.Fatal("back too soon")
		}
		if p.after(1); p.out(0) {
			t.Fatal("not back")
		}
		p.fail(0, 1) // one is enough, as long as it has not answered
	}
	for range 12 { // 40 s out, then longer in than it took to get here
		p.after(40 * time.Second)
		p.State(p.now, 0)
	}
	p.call(0, spread.Answered)
	p.fail(0, 4)
	if p.out(0) {
		t.Error("it has answered since, so that one failure is not enough")
	}
	p.fail(0, 1)
	if left := p.State(p.now, 0).Left; left != 10*time.Second {
		t.Errorf("ejected for %v after minutes without a fault, want 10s", left)
	}
}

func TestTheFloor(t *testing.T) {
	for _, tt := range []struct{ copies, atMost, bad, out int }{
		{1, 50, 1, 0}, {2, 50, 1, 1}, {2, 50, 2, 0}, {3, 50, 2, 1}, {3, 50, 3, 0},
		{10, 50, 5, 5}, {10, 50, 7, 5}, {10, 50, 10, 0}, {10, 1, 3, 0}, {4, 100, 3, 3}, {4, 100, 4, 0},
	} {
		p := start(t, tt.copies, spread.Config{AtMost: tt.atMost})
		for c := range tt.bad {
			p.fail(spread.Copy(c), 5)
		}
		out := 0
		for c := range tt.copies {
			if p.out(spread.Copy(c)) {
				out++
			}
		}
		if out != tt.out || p.Panic() != (tt.bad == tt.copies) {
			t.Errorf("%d copies, at most %d %%, %d bad: %d out, panic %v; want %d", tt.copies, tt.atMost, tt.bad, out, p.Panic(), tt.out)
		}
	}
}

// In panic mode the first that answers again is used at once, not when its time
// is over.
func TestACopyThatAnswersThoughEjectedComesBack(t *testing.T) {
	p := start(t, 2, spread.Config{})
	p.fail(0, 5)
	p.fail(1, 5)
	if p.out(0) || p.out(1) || !p.Panic() {
		t.Fatal("all are bad, and not all are used")
	}
	for range 5 {
		p.call(1, spread.Answered)
	}
	if p.Panic() || !p.out(0) || p.State(p.now, 1).Ejected {
		t.Errorf("copy 0 %+v, copy 1 %+v; want the one out and the other back", p.State(p.now, 0), p.State(p.now, 1))
	}
}

func TestWhatBeganBeforeTheReturnIsNotHeldAgainstIt(t *testing.T) {
	p := start(t, 2, spread.Config{For: time.Second})
	p.fail(0, 5)
	p.after(2 * time.Second)
	if p.out(0) {
		t.Fatal("not back")
	}
	p.Judge(p.now.Add(time.Millisecond), 0, spread.Failed, 10*time.Second)
	if p.out(0) {
		t.Error("a call of the time before sent it out again")
	}
}

func TestSlowStartIsInProportionToTheOutage(t *testing.T) {
	p := start(t, 2, spread.Config{For: 10 * time.Second})
	p.fail(0, 5)
	p.after(10 * time.Second)
	for _, want := range []struct {
		after       time.Duration
		least, most int // of 200 turns; 100 are its share
	}{{0, 5, 15}, {5 * time.Second, 40, 60}, {5 * time.Second, 95, 105}} {
		p.after(want.after)
		if got := p.turns(200, 2)[0]; got < want.least || got > want.most {
			t.Errorf("%d of 200 turns at %d %% of its part, want %d to %d", got, p.State(p.now, 0).Part, want.least, want.most)
		}
	}
}

func TestChecks(t *testing.T) {
	p := start(t, 3, spread.Config{Healthy: 2, Unhealthy: 3})
	check := func(c spread.Copy, results string) {
		for _, r := range results {
			p.Checked(p.now, c, r == '+')
		}
	}
	for _, step := range []struct {
		results string
		out     bool
		why     string
	}{
		{"+", false, "well from the start"}, {"--", false, "two failures are not three"}, {"+--", false, "they were not in a row"},
		{"-", true, "three"}, {"+", true, "one pass is not two"}, {"-+", true, "flapping stays out"}, {"+", false, "two"},
	} {
		if check(0, step.results); p.out(0) != step.out {
			t.Fatalf("%s: out %v", step.why, p.out(0))
		}
	}
	if check(1, "-"); !p.out(1) {
		t.Error("a copy that never passed a check is given the benefit of the doubt")
	}
}

func TestANewCopyStartsSlowly(t *testing.T) {
	p := start(t, 1, spread.Config{})
	c, _ := p.Add(p.now, true)
	if got := p.State(p.now, c).Part; got > 10 {
		t.Errorf("it gets %d %% of its turns at once", got)
	}
}

func TestDrainingEndsWhatItHas(t *testing.T) {
	p := start(t, 2, spread.Config{})
	c := p.take()
	if p.Drain(c) {
		t.Fatal("gone with a request in flight")
	}
	if got := p.turns(4, 2); got[c] != 0 {
		t.Error("a draining copy got a turn")
	}
	if !p.Done(c) || p.Copies() != 1 {
		t.Error("not gone with its last request")
	}
	if again, ok := p.Add(p.now, false); !ok || again != c {
		t.Errorf("its number is not used again: %d", again)
	}
}

func TestCopiesAreBounded(t *testing.T) {
	p := start(t, spread.CopiesMax, spread.Config{})
	if _, ok := p.Add(p.now, false); ok {
		t.Error("one more than CopiesMax")
	}
}

func TestTakeAndDoneAllocateNothing(t *testing.T) {
	p := start(t, 8, spread.Config{Slots: 64})
	if n := testing.AllocsPerRun(1000, func() {
		c := p.take()
		p.Judge(p.now, c, spread.Answered, time.Millisecond)
		p.Done(c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTakeDone(b *testing.B) {
	for _, n := range []int{1, 3, 16, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := start(b, n, spread.Config{Slots: 64})
			for b.Loop() {
				c, _ := p.Take(p.now, spread.None)
				p.Judge(p.now, c, spread.Answered, time.Millisecond)
				p.Done(c)
			}
		})
	}
}
