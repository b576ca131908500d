package store

import (
	"slices"
	"testing"
	"time"
)

// above is the share of a law beyond t, exactly.
func above(l Law, t time.Duration) float64 {
	sum, beyond := 0.0, 0.0
	for _, b := range l {
		w := float64(b.Weight)
		sum += w
		switch {
		case b.From > t:
			beyond += w
		case b.To > t:
			beyond += w * float64(b.To-t) / float64(b.To-b.From)
		}
	}
	return beyond / sum
}

func TestLawsAreAsTheExperimentSays(t *testing.T) {
	near := func(what string, got, want, within float64) {
		t.Helper()
		if got < want-within || got > want+within {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("L above 10 ms", above(LongTail, 10*ms), 0.066, 0.0005)
	near("L above 25 ms", above(LongTail, 25*ms), 0.006, 0.0005)
	near("L above 20 ms, which must be more than 1 %", above(LongTail, 20*ms), 0.017, 0.002)
	near("L mean, ms", LongTail.Mean().Seconds()*1000, 2.9, 0.05)
	near("H above 1 s", above(Freezing, 999*ms), 0.01, 1e-9)
	near("H above 10 ms", above(Freezing, 10*ms), 0.99*0.066+0.01, 0.0005)
	near("H mean, ms", Freezing.Mean().Seconds()*1000, 17.9, 0.1)
	near("F mean, ms", Fixed.Mean().Seconds()*1000, 2, 0)
}

// What is drawn has the law's shares.
func TestDrawsFollowTheLaw(t *testing.T) {
	for letter, law := range map[string]Law{"F": Fixed, "L": LongTail, "H": Freezing} {
		parsed, err := ParseLaw(letter)
		if err != nil || len(parsed) != len(law) {
			t.Fatalf("%s: %v, %v", letter, parsed, err)
		}
		d := NewDraws(1, 0, law, 0)
		const n = 200_000
		waits := make([]time.Duration, n)
		frozen := 0
		for i := range waits {
			var froze bool
			if waits[i], froze = d.Wait(int64(i), 1); froze {
				frozen++
			}
		}
		slices.Sort(waits)
		for _, at := range []time.Duration{2 * ms, 10 * ms, 20 * ms, 25 * ms, 1500 * ms} {
			k, _ := slices.BinarySearch(waits, at+1)
			if got, want := float64(n-k)/n, above(law, at); got < want-0.003 || got > want+0.003 {
				t.Errorf("%s: %.4f of waits are above %v, the law says %.4f", letter, got, at, want)
			}
		}
		if want := above(law, 999*ms) * n; float64(frozen) < want*0.9 || float64(frozen) > want*1.1 {
			t.Errorf("%s: %d of %d freeze, want about %.0f", letter, frozen, n, want)
		}
	}
	if _, err := ParseLaw("G"); err == nil {
		t.Error("a law that there is not")
	}
}

// Draws belong to request and attempt alone: whatever was drawn before.
func TestDrawsDependOnRequestAndAttemptAlone(t *testing.T) {
	a, b := NewDraws(7, 3, Freezing, 0), NewDraws(7, 3, Freezing, 0)
	for i := range int64(100) {
		b.Wait(i*31, 9)
		b.Dice(i)
	}
	differ := false
	for n := range int64(1000) {
		for attempt := range uint16(4) {
			x, _ := a.Wait(n, attempt+1)
			if y, _ := b.Wait(n, attempt+1); x != y {
				t.Fatalf("request %d, attempt %d: %v, then %v", n, attempt+1, x, y)
			}
		}
		x, _ := a.Wait(n, 1)
		y, _ := a.Wait(n, 2)
		differ = differ || x != y
	}
	if !differ {
		t.Error("every attempt waits as long as the first")
	}
	other := NewDraws(7, 4, Freezing, 0)
	if x, _ := a.Wait(1, 1); func() bool { y, _ := other.Wait(1, 1); return x == y }() {
		t.Error("the next round has the same dice")
	}
}

// A rate changes how close arrivals come, not their luck.
func TestArrivalsOfTwoRatesHaveTheSameLuck(t *testing.T) {
	d := NewDraws(1, 0, Fixed, 0)
	slow, fast := d.Arrivals(300, 30*time.Second), d.Arrivals(450, 30*time.Second)
	for i := range 1000 {
		if ratio := float64(slow[i]) / float64(fast[i]); ratio < 1.4999 || ratio > 1.5001 {
			t.Fatalf("arrival %d: at %v and %v", i, slow[i], fast[i])
		}
	}
	if n := len(slow); n < 8700 || n > 9300 {
		t.Errorf("%d arrivals in 30 s at 300/s", n)
	}
}

func TestOneSlowCustomerFreezesAtEveryAttempt(t *testing.T) {
	d := NewDraws(1, 0, LongTail, 10_000)
	slow := 0
	for n := range int64(100_000) {
		_, first := d.Wait(n, 1)
		_, second := d.Wait(n, 2)
		if first != second {
			t.Fatalf("request %d freezes at one attempt only", n)
		}
		if first {
			slow++
		}
	}
	if slow < 900 || slow > 1100 {
		t.Errorf("%d of 100,000 are the slow customer's, want about 1,000", slow)
	}
}

func TestBusyTimes(t *testing.T) {
	d := NewDraws(1, 0, LongTail, 0)
	b := Busy{Every: 2 * time.Second, For: 400 * ms, Factor: 20}
	first, second := d.spans(b, 0, time.Minute), d.spans(b, 1, time.Minute)
	if len(first) < 10 || len(first) > 50 || slices.Equal(first, second) {
		t.Errorf("%d and %d busy times in a minute", len(first), len(second))
	}
	last := time.Duration(0)
	for _, s := range first {
		if s.from < last || s.to-s.from < b.For || s.to-s.from >= 2*b.For {
			t.Errorf("busy from %v to %v, after %v", s.from, s.to, last)
		}
		last = s.to
	}
	if d.spans(Busy{}, 0, time.Minute) != nil {
		t.Error("busy times of a store that has none")
	}
}
