package quota

import (
	"math/big"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

const second = unit.Instant(time.Second)

// at is an instant by both clocks.
func at(i unit.Instant) Time { return Time{Run: i, Wall: i} }

func bucket(u Unit, burst, refill int64, every time.Duration) Budget {
	return NewBudget(Limit{Unit: u, Most: burst, Refill: refill, Every: every}, Time{})
}

func slots(n int64) Budget { return NewBudget(Limit{Unit: Concurrent, Most: n}, Time{}) }

// Three budgets, each with room, exactly full, or over: granted only if every one
// has room, whatever the others have.
func TestAllThatApplyMustHaveRoom(t *testing.T) {
	states := []struct {
		name string
		left int64
		room bool
	}{{"room", 10, true}, {"exactly full", 0, false}, {"over", -5, false}}
	for _, a := range states {
		for _, b := range states {
			for _, c := range states {
				budgets := []Budget{
					bucket(Tokens, 10, 1, time.Second), bucket(Requests, 10, 1, time.Minute), bucket(Money, 10, 1, time.Hour),
				}
				budgets[0].Left, budgets[1].Left, budgets[2].Left = a.left, b.left, c.left
				before := [3]Budget(budgets)
				v := Decide(at(second/2), budgets, Amounts{Tokens: 1, Requests: 1, Money: 1})
				if v.OK() != (a.room && b.room && c.room) {
					t.Errorf("%s, %s, %s: %v", a.name, b.name, c.name, v)
				}
				if !v.OK() && before != [3]Budget(budgets) {
					t.Errorf("%s, %s, %s: a refusal has changed a budget", a.name, b.name, c.name)
				}
			}
		}
	}
}

func TestTheBudgetThatHasRoomLastIsNamed(t *testing.T) {
	budgets := []Budget{bucket(Requests, 1, 1, time.Second), bucket(Tokens, 10, 1, time.Second), slots(1)}
	ask := Amounts{Requests: 1, Tokens: 10, Concurrent: 1}
	if v := Decide(Time{}, budgets, ask); !v.OK() {
		t.Fatal(v)
	}
	budgets[2].Frees = 3 * second
	for _, c := range []struct {
		name string
		now  unit.Instant
		held int64
		want Verdict
	}{
		{"tokens take ten seconds, the slot three, the request one", 0, 1, Verdict{reason.QuotaTokens, 1, 10 * time.Second}},
		{"the same instant for whoever asks later", 4 * second, 1, Verdict{reason.QuotaTokens, 1, 6 * time.Second}},
		{"then the slot alone, of which nobody knows more", 10 * second, 1, Verdict{reason.QuotaConcurrency, 2, 0}},
		{"then none", 10 * second, 0, Verdict{Budget: -1}},
	} {
		b := append([]Budget(nil), budgets...)
		b[2].Held = c.held
		if v := Decide(at(c.now), b, ask); v != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, v, c.want)
		}
	}
}

func TestMoreThanALimitItselfIsFinal(t *testing.T) {
	for _, b := range []Budget{bucket(Tokens, 100, 1, time.Second), slots(100), NewBudget(Limit{Unit: Money, Most: 100, Window: Window{Period: Day}}, Time{})} {
		v := Decide(at(second), []Budget{b}, Amounts{Tokens: 101, Concurrent: 101, Money: 101})
		if !v.Never() || v.Reason != reason.TooLarge {
			t.Errorf("%v: %+v, want what never fits", b.Limit.Unit, v)
		}
	}
}

// What callers ask can be anything.
func TestHostileAmounts(t *testing.T) {
	for _, n := range []int64{-1, -1 << 63, 1<<63 - 1, MostMax + 1} {
		b := []Budget{bucket(Tokens, 100, 1, time.Second)}
		v := Decide(Time{}, b, Amounts{Tokens: n})
		if (n < 0) != v.OK() || b[0].Left != 100 {
			t.Errorf("asked %d: %+v, left %d", n, v, b[0].Left)
		}
	}
}

func TestFractionsAreKept(t *testing.T) {
	b := []Budget{bucket(Requests, 2, 3, 10*time.Second)}
	granted := 0
	for now := unit.Instant(0); now <= 1000*second; now += second / 10 {
		if Decide(at(now), b, Amounts{Requests: 1}).OK() {
			granted++
		}
	}
	if granted < 301 || granted > 302 { // and the burst
		t.Errorf("0.3 a second, asked ten times a second for 1,000 s: %d granted", granted)
	}
}

// The store's clock is not to be believed.
func TestTheClockSteps(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit Limit
		step  time.Duration
		want  int64
	}{
		{"a bucket, back", Limit{Unit: Tokens, Most: 10, Refill: 1, Every: time.Second}, -time.Hour, 0},
		{"a bucket, forward: one burst", Limit{Unit: Tokens, Most: 10, Refill: 1, Every: time.Second}, 8760 * time.Hour, 10},
		{"a day, back over midnight", Limit{Unit: Tokens, Most: 10, Window: Window{Period: Day}}, -48 * time.Hour, 0},
		{"a day, forward: one day's", Limit{Unit: Tokens, Most: 10, Window: Window{Period: Day}}, 8760 * time.Hour, 10},
	} {
		start := unit.Instant(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
		b := []Budget{NewBudget(c.limit, at(start))}
		Decide(at(start), b, Amounts{Tokens: 10})
		if got := b[0].Free(at(start.Add(c.step))); got != c.want {
			t.Errorf("%s: %d free, want %d", c.name, got, c.want)
		}
		Decide(at(start.Add(c.step)), b, Amounts{Tokens: 1})
		if got := b[0].Free(at(start)); c.step < 0 && got != 0 {
			t.Errorf("%s and back again: %d free", c.name, got)
		}
	}
}

func TestAChangedLimitHoldsAtOnceAndKeepsWhatIsUsed(t *testing.T) {
	b := []Budget{bucket(Tokens, 100, 10, time.Second)}
	Decide(Time{}, b, Amounts{Tokens: 70})
	b[0].Relimit(at(second), Limit{Unit: Tokens, Most: 50, Refill: 5, Every: time.Second})
	if got := b[0].Left; got != -10 { // 70 used, 10 come back: 60 of 50
		t.Errorf("left %d, want -10", got)
	}
	if v := Decide(at(second), b, Amounts{Tokens: 1}); v.After != 2200*time.Millisecond {
		t.Errorf("%+v: 11 units at 5 a second", v)
	}
	b[0].Relimit(at(second), Limit{Unit: Tokens, Most: 200, Refill: 5, Every: time.Second})
	if got := b[0].Left; got != 140 {
		t.Errorf("left %d of 200 with 60 used", got)
	}
	s := []Budget{slots(5)}
	Decide(Time{}, s, Amounts{Concurrent: 5})
	s[0].Relimit(Time{}, Limit{Unit: Concurrent, Most: 3})
	if s[0].Free(Time{}) != 0 || s[0].Held != 5 {
		t.Errorf("%+v: who holds a slot keeps it, and nobody gets another", s[0])
	}
}

func TestTheProviderCorrectsDownwards(t *testing.T) {
	b := bucket(Tokens, 100, 1, time.Second)
	for _, c := range []struct{ says, want int64 }{{200, 100}, {40, 40}, {90, 40}, {-3, 0}} {
		if b.Lower(Time{}, c.says); b.Left != c.want {
			t.Errorf("it says %d: %d left, want %d", c.says, b.Left, c.want)
		}
	}
}

// Against a naive account in exact fractions: what is granted is what fits, a
// refusal changes nothing, and the instant that is told is the first at which it
// fits.
func TestAgreesWithExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		burst := rapid.Int64Range(1, 1000).Draw(t, "burst")
		refill := rapid.Int64Range(1, 1000).Draw(t, "refill")
		every := rapid.Int64Range(1, 1e12).Draw(t, "every")
		b := []Budget{bucket(Tokens, burst, refill, time.Duration(every))}
		kept, asOf := big.NewRat(burst, 1), unit.Instant(0)
		for range 50 {
			now := asOf.Add(time.Duration(rapid.Int64Range(-1e6, 1e12).Draw(t, "step")))
			want := rapid.Int64Range(0, burst).Draw(t, "want")
			left := new(big.Rat).Set(kept) // as of now; a refusal moves nothing
			if now > asOf {
				gain := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(now-asOf)), big.NewInt(refill)), big.NewInt(every))
				if left.Add(left, gain); left.Cmp(big.NewRat(burst, 1)) > 0 {
					left.SetInt64(burst)
				}
			}
			fits := left.Cmp(big.NewRat(want, 1)) >= 0
			before := b[0]
			v := Decide(at(now), b, Amounts{Tokens: want})
			if v.OK() != fits {
				t.Fatalf("at %d: %d of %s: %+v", now, want, left.FloatString(3), v)
			}
			if fits {
				kept.Sub(left, big.NewRat(want, 1))
				asOf = max(asOf, now)
				continue
			}
			if b[0] != before {
				t.Fatal("a refusal has changed the budget")
			}
			early, exact := b[0], b[0]
			if Decide(at(now.Add(v.After-1)), []Budget{early}, Amounts{Tokens: want}).OK() || !Decide(at(now.Add(v.After)), []Budget{exact}, Amounts{Tokens: want}).OK() {
				t.Fatalf("told %v at %d, which is not the first instant that fits", v.After, now)
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	b := []Budget{bucket(Requests, 1<<40, 1, time.Second), bucket(Tokens, 1<<40, 1, time.Second), slots(1 << 40)}
	now := unit.Instant(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += second
		Decide(at(now), b, Amounts{Requests: 1, Tokens: 500, Concurrent: 1})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	b.ReportAllocs()
	budgets := []Budget{bucket(Requests, 1000, 1000, time.Second), bucket(Tokens, 1<<40, 1, time.Second), slots(1 << 40)}
	now := unit.Instant(0)
	for b.Loop() {
		now += second / 1000
		Decide(at(now), budgets, Amounts{Requests: 1, Tokens: 500, Concurrent: 1})
	}
}
