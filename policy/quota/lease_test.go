package quota

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// fleetOf is gateways with leases of one budget, driven by hand: what each has spent
// since it last said what it holds is out, as far as the store knows.
type fleetOf struct {
	b      Budget
	leases []Lease
	mine   []int64 // what the store knows to be with each
}

func newFleet(l Limit, gateways int, now Time) *fleetOf {
	f := &fleetOf{b: NewBudget(l, now), leases: make([]Lease, gateways), mine: make([]int64, gateways)}
	for i := range f.leases {
		f.leases[i].Unit = l.Unit
	}
	return f
}

func (f *fleetOf) out() (n int64) {
	for _, m := range f.mine {
		n += m
	}
	return n
}

// renew has a gateway report and ask, as the ledger does.
func (f *fleetOf) renew(i int, now Time) {
	l := &f.leases[i]
	f.mine[i] = l.Holding(now.Run)
	if want := l.Wants(now.Run, f.b.Limit.LeaseMost(len(f.leases))); want > 0 {
		g := f.b.Grant(now, f.out(), f.mine[i], want, len(f.leases))
		f.mine[i] += g.Credit
		l.Fill(now.Run, g)
	}
}

// Gateways that spend at random, renew when they like, forget and die: over any stretch
// of time no more is spent than the limit allows for it, and never is more out than a
// twentieth.
func TestLeasesNeverAdmitMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gateways := rapid.IntRange(1, 5).Draw(t, "gateways")
		l := Limit{Unit: Tokens, Most: rapid.Int64Range(int64(100*gateways), 5000).Draw(t, "most"), Refill: rapid.Int64Range(1, 2000).Draw(t, "refill"), Every: time.Second}
		at := Time{Run: 1 << 40, Wall: 1 << 40}
		f := newFleet(l, gateways, at)
		type spend struct {
			at unit.Instant
			n  int64
		}
		var spent []spend
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			pass := time.Duration(rapid.Int64Range(0, 3e8).Draw(t, "pass"))
			at.Run, at.Wall = at.Run.Add(pass), at.Wall.Add(pass)
			i := rapid.IntRange(0, gateways-1).Draw(t, "who")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				f.renew(i, at)
			case 3: // it dies, and another comes: what it held was perhaps spent
				f.mine[i], f.leases[i] = 0, Lease{Unit: Tokens}
			case 4: // it has nothing to do
				back := f.leases[i].Credit
				f.mine[i], f.leases[i] = 0, Lease{Unit: Tokens}
				f.b.PayBack(at, back, f.out())
			default:
				n := rapid.Int64Range(1, 40).Draw(t, "ask")
				if Spend(at.Run, []*Lease{&f.leases[i]}, &Amounts{Tokens: n}).OK() {
					spent = append(spent, spend{at.Run, n})
				}
			}
			if out := f.out(); out > max(l.Most/LeasePart, int64(gateways)) || f.b.Left+out > l.Most {
				t.Fatalf("%d are out and %d left of %d", out, f.b.Left, l.Most)
			}
		}
		for i := range spent {
			sum := int64(0)
			for _, s := range spent[i:] {
				sum += s.n
				passed := s.at.Sub(spent[i].at)
				if allowed := l.Most + l.Refill*int64(passed)/int64(l.Every) + 1; sum > allowed {
					t.Fatalf("%d spent in %v, allowed are %d", sum, passed, allowed)
				}
			}
		}
	})
}

// With more to do than the limit allows, what is spent is at least 95 % of what it
// allows, and few asks need the store: however unevenly the load lies.
func TestLeasesUseWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		loads []float64 // asks a millisecond of each, of 1 that there is
		waits float64   // the most that may wait, of those that are admitted
	}{
		{[]float64{4}, 0.01}, {[]float64{2, 2}, 0.01}, {[]float64{1, 1, 1, 1}, 0.01}, {[]float64{5, 1, 1, 0}, 0.01},
		{[]float64{0.9}, 0.01}, {[]float64{0.2, 0.2, 0.2, 0.2}, 0.01}, {[]float64{0.9, 0, 0, 0}, 0.01},
		{[]float64{8, 0, 0, 0}, 0.02}, // what one may hold is spent before more can come, until the burst is
	} {
		t.Run(fmt.Sprint(c.loads), func(t *testing.T) {
			l := Limit{Unit: Tokens, Most: 1000, Refill: 1000, Every: time.Second}
			at := Time{Run: 1 << 40, Wall: 1 << 40}
			f := newFleet(l, len(c.loads), at)
			const millis = 20_000
			var spent, asks, waited, wanted int64
			due := make([]float64, len(c.loads))
			for ms := range millis {
				for i, load := range c.loads {
					if ms%2 == i%2 { // what was asked for takes a millisecond or two
						f.renew(i, at)
					}
					for due[i] += load; due[i] >= 1; due[i]-- {
						asks++
						v := Spend(at.Run, []*Lease{&f.leases[i]}, &Amounts{Tokens: 1})
						switch {
						case v.OK():
							spent++
						case v.After == 0:
							waited++
						}
					}
				}
				at.Run, at.Wall = at.Run.Add(time.Millisecond), at.Wall.Add(time.Millisecond)
			}
			allowed := l.Most + l.Refill*millis/1000
			wanted = min(asks, allowed)
			if spent > allowed || float64(spent+waited) < 0.95*float64(wanted) {
				t.Errorf("%d spent of %d, %d waited", spent, wanted, waited)
			}
			if float64(waited) > c.waits*float64(spent) {
				t.Errorf("%d of %d waited", waited, spent)
			}
			t.Logf("%d spent of %d (%.1f %%), %d waited", spent, wanted, 100*float64(spent)/float64(wanted), waited)
		})
	}
}

// What was given of a day is not spent in the next.
func TestALeaseEndsWithItsWindow(t *testing.T) {
	l := Limit{Unit: Requests, Most: 1000, Window: Window{Period: Day}}
	noon := Time{Run: 7, Wall: unit.Instant(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())}
	f := newFleet(l, 1, noon)
	f.renew(0, noon)
	one := Amounts{Requests: 1}
	if v := Spend(noon.Run, []*Lease{&f.leases[0]}, &one); !v.OK() {
		t.Fatal(v)
	}
	midnight := Time{Run: noon.Run.Add(12 * time.Hour), Wall: noon.Wall.Add(12 * time.Hour)}
	if v := Spend(midnight.Run, []*Lease{&f.leases[0]}, &one); v.OK() {
		t.Error("yesterday's credit is spent today")
	}
	f.renew(0, midnight)
	if v := Spend(midnight.Run, []*Lease{&f.leases[0]}, &one); !v.OK() || f.b.Left+f.out() != 1000 {
		t.Errorf("%+v; %d left, %d out", v, f.b.Left, f.out())
	}
}

func TestSpendAllOrNothing(t *testing.T) {
	a, b := Lease{Unit: Requests, Credit: 5, Ends: 100}, Lease{Unit: Tokens, Credit: 50, Ends: 100, Dry: 90}
	leases := []*Lease{&a, &b}
	if v := Spend(10, leases, &Amounts{Requests: 1, Tokens: 51}); v.Budget != 1 || v.After != 80 || a.Credit != 5 {
		t.Errorf("%+v, %+v", v, a)
	}
	if v := Spend(10, leases, &Amounts{Requests: 1, Tokens: 50}); !v.OK() || a.Credit != 4 || b.Credit != 0 {
		t.Errorf("%+v, %+v, %+v", v, a, b)
	}
	ask := Amounts{Requests: 1}
	if n := testing.AllocsPerRun(100, func() { Spend(10, leases, &ask) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
