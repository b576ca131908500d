package heed

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

const s = time.Second

func at(d time.Duration) unit.Instant { return unit.Instant(d) }

// Answers overtake each other; the latest instant counts, in whatever order they come.
func TestTheLongestPauseCounts(t *testing.T) {
	for _, waits := range [][]time.Duration{{s, 0, 5 * s, 60 * s}, {60 * s, 5 * s, 0, s}, {0, 60 * s, s, 0}} {
		var r Route
		for _, w := range waits {
			r.Pause(at(0), w)
		}
		if got := r.Paused(at(s)); got != 59*s {
			t.Errorf("%v: paused for another %v, want 59s", waits, got)
		}
		if v := r.Admit(at(59*s), quota.Amounts{}); v.Reason != reason.BreakerOpen || v.After != s {
			t.Errorf("%v: %+v", waits, v)
		}
		if v := r.Admit(at(60*s), quota.Amounts{}); v.Reason != reason.None {
			t.Errorf("%v: %+v after it", waits, v)
		}
	}
}

func TestAServiceThatDoesNotSayHowLong(t *testing.T) {
	var r Route
	now := time.Duration(0)
	for i, want := range []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s} {
		r.Pause(at(now), 0)
		r.Pause(at(now), 0) // a second call that was under way
		if got := r.Paused(at(now)); got != want {
			t.Errorf("pause %d: %v, want %v", i+1, got, want)
		}
		r.Succeeded(at(now - s)) // one that was sent before says nothing
		now += r.Paused(at(now))
	}
	r.Succeeded(at(now))
	r.Pause(at(now), 0)
	if got := r.Paused(at(now)); got != s {
		t.Errorf("after a success: %v, want %v", got, s)
	}
	r.Resume()
	if got := r.Paused(at(now)); got != 0 {
		t.Errorf("after an operator's word: %v", got)
	}
}

func TestWhatIsLeftOfALimit(t *testing.T) {
	tokens := func(n int64) (a quota.Amounts) { a[quota.Tokens] = n; return a }
	for _, c := range []struct {
		name  string
		told  Left
		took  int64
		now   time.Duration
		want  int64
		why   reason.Reason
		after time.Duration
	}{
		{"room", Left{true, 1000, 400, 60 * s}, 0, 0, 400, reason.None, 0},
		{"none", Left{true, 1000, 400, 60 * s}, 0, 0, 500, reason.QuotaTokens, 10 * s},
		{"none after what was sent", Left{true, 1000, 400, 60 * s}, 300, 0, 200, reason.QuotaTokens, 6666666666},
		{"some has come", Left{true, 1000, 400, 60 * s}, 0, 5 * s, 500, reason.QuotaTokens, 5 * s},
		{"enough has come", Left{true, 1000, 400, 60 * s}, 0, 10 * s, 500, reason.None, 0},
		{"full again", Left{true, 1000, 0, 60 * s}, 5000, 60 * s, 1000, reason.None, 0},
		{"more than the limit waits until it is full", Left{true, 1000, 0, 60 * s}, 0, 0, 5000, reason.QuotaTokens, 60 * s},
		{"a limit that is not said", Left{true, 0, 0, 60 * s}, 0, 20 * s, 1, reason.QuotaTokens, 40 * s},
		{"no word of when", Left{true, 1000, 0, 0}, 0, 0, 1000, reason.None, 0},
		{"nothing said", Left{}, 0, 0, 1000, reason.None, 0},
		{"nothing wanted", Left{true, 1000, 0, 60 * s}, 0, 0, 0, reason.None, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Route
			r.Told(at(0), quota.Tokens, c.told)
			r.Took(tokens(c.took))
			if v := r.Admit(at(c.now), tokens(c.want)); v.Reason != c.why || v.After != c.after {
				t.Errorf("%v after %v, want %v after %v", v.Reason, v.After, c.why, c.after)
			}
		})
	}
}

func TestTheLimitThatHasRoomLastIsNamed(t *testing.T) {
	var r Route
	r.Told(at(0), quota.Requests, Left{true, 60, 0, 60 * s})
	r.Told(at(0), quota.Tokens, Left{true, 1000, 0, 10 * s})
	ask := quota.Amounts{quota.Requests: 1, quota.Tokens: 1000}
	if v := r.Admit(at(0), ask); v.Reason != reason.QuotaTokens || v.After != 10*s {
		t.Errorf("%+v", v)
	}
}

// Whatever a service says: waits are never negative nor longer than what is believed,
// asking changes nothing, a pause never becomes shorter, and who comes back when he was
// told to is let in.
func TestWhateverIsSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Route
		now, until := unit.Instant(0), unit.Instant(0)
		amounts := rapid.Custom(func(t *rapid.T) (a quota.Amounts) {
			for u := range a {
				a[u] = rapid.Int64Range(-5, 2000).Draw(t, "amount")
			}
			return a
		})
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) { now = now.Add(time.Duration(rapid.Int64Range(0, int64(90*s)).Draw(t, "passes"))) },
			"pause": func(t *rapid.T) {
				r.Pause(now, time.Duration(rapid.Int64Range(-5, int64(100*s)).Draw(t, "wait")))
				if r.until < until {
					t.Fatalf("a pause until %v became one until %v", until, r.until)
				}
				until = r.until
			},
			"told": func(t *rapid.T) {
				r.Told(now, quota.Unit(rapid.IntRange(0, quota.Units-1).Draw(t, "unit")), Left{true, rapid.Int64Range(0, 1000).Draw(t, "limit"),
					rapid.Int64Range(-1, 1000).Draw(t, "left"), time.Duration(rapid.Int64Range(-1, int64(100*s)).Draw(t, "full"))})
			},
			"took":      func(t *rapid.T) { r.Took(amounts.Draw(t, "took")) },
			"succeeded": func(t *rapid.T) { r.Succeeded(now) },
			"": func(t *rapid.T) {
				before, ask := r, amounts.Draw(t, "ask")
				v := r.Admit(now, ask)
				if r != before || v.After < 0 || v.After > PauseLongest || (v.Reason == reason.None) != (v.After == 0) {
					t.Fatalf("%+v", v)
				}
				if then := r.Admit(now.Add(v.After+1), ask); then.Reason != reason.None && v.Reason != reason.BreakerOpen {
					t.Fatalf("told to come back after %v, then %+v", v.After, then)
				}
			},
		})
	})
}

func TestWhoWasToldTheSameComesBackSpread(t *testing.T) {
	v := Verdict{reason.BreakerOpen, 8 * s}
	var buckets [8]int
	for n := range uint64(800) {
		d := v.Spread(n)
		if d < 8*s || d > 10*s {
			t.Fatalf("caller %d after %v", n, d)
		}
		buckets[min((d-8*s)/(2*s/8), 7)]++
	}
	for i, n := range buckets {
		if n < 80 || n > 120 {
			t.Errorf("%d of 800 come in eighth %d: %v", n, i, buckets)
		}
	}
}
