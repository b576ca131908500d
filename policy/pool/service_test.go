package pool

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// What a request must have left, by how long calls take: to be let in to wait,
// to be run at its turn, to be run at once. Whoever has less is hopeless there. A
// figure is within a bucket, 3.2 %, of what the distribution says.
func TestWhatIsHopeless(t *testing.T) {
	exponential := func(u float64) float64 { return -100 * math.Log(1-u) }
	logNormal := func(sigma float64) func(float64) float64 {
		return func(u float64) float64 { return 100 * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*u-1)) }
	}
	freezes := func(share float64) func(float64) float64 {
		return func(u float64) float64 {
			if u > 1-share {
				return 1500
			}
			return 2.9
		}
	}
	for _, c := range []struct {
		name                  string
		quantile              func(u float64) float64 // in ms
		toWait, atTurn, toRun float64                 // in ms
	}{
		{"constant", func(float64) float64 { return 100 }, 100, 100, 100},
		{"exponential", exponential, 4 * 69.3, 230, 69.3}, // the 98th would be 391
		{"log-normal, narrow", logNormal(0.2), 151, 129, 100},
		{"log-normal, wide", logNormal(1), 4 * 100, 360, 100}, // the 98th would be 780
		{"one call in a hundred freezes", freezes(0.01), 2.9, 2.9, 2.9},
		{"one call in twenty freezes", freezes(0.05), 4 * 2.9, 2.9, 2.9},
	} {
		s := newServiceTimes()
		const n = 2000
		took := make([]time.Duration, n)
		for i := range took {
			took[i] = time.Duration(c.quantile((float64(i)+0.5)/n) * float64(ms))
		}
		dice := chance.New(1)
		for i := range took { // in any order, the longest last: none is cut to the latest
			j := i + int(dice.Below(int64(n-i)))
			took[i], took[j] = took[j], took[i]
		}
		longest := slices.Index(took, slices.Max(took))
		took[longest], took[n-1] = took[n-1], took[longest]
		for _, d := range took {
			s.add(d)
		}
		for _, f := range []struct {
			name string
			got  time.Duration
			want float64
		}{{"to wait", s.toWait(), c.toWait}, {"at its turn", s.atTurn(), c.atTurn}, {"to run", s.toRun(), c.toRun}} {
			if got := float64(f.got) / float64(ms); math.Abs(got/f.want-1) > 0.045 {
				t.Errorf("%s, %s: %.2f ms, want %.2f", c.name, f.name, got, f.want)
			}
		}
	}
}

// Nothing is hopeless before there is anything to say so, and the latest calls
// have the last word.
func TestWhatIsKnownOfServiceTimes(t *testing.T) {
	s := newServiceTimes()
	for range samplesMin - 1 {
		s.add(time.Second)
	}
	if s.toWait()+s.atTurn()+s.toRun() != 0 {
		t.Errorf("known after %d calls: %v, %v, %v", samplesMin-1, s.toWait(), s.atTurn(), s.toRun())
	}
	s.add(time.Second)
	if s.toRun() < 900*ms || s.toRun() > s.atTurn() || s.atTurn() > s.toWait() {
		t.Errorf("after %d calls of a second: %v, %v, %v", samplesMin, s.toWait(), s.atTurn(), s.toRun())
	}
	for range 31 {
		s.add(ms)
	}
	if s.toWait() > ms || s.atTurn() > ms || s.toRun() > ms {
		t.Errorf("after 31 calls of a millisecond: %v, %v, %v", s.toWait(), s.atTurn(), s.toRun())
	}
}
