package spread_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Whatever happens: nobody that is out gets a turn, no more are out than the
// floor allows, and what is in flight is what was given and has not ended.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := spread.Config{
			Slots: rapid.IntRange(0, 20).Draw(t, "slots"), InARow: 2, For: time.Second, Window: time.Second,
			AtMost: rapid.IntRange(1, 100).Draw(t, "at most"),
		}
		s := spread.New(cfg, rapid.Uint64().Draw(t, "seed"))
		now := unit.Instant(0)
		flying := map[spread.Copy]int{}
		live := map[spread.Copy]bool{}
		weight := map[spread.Copy]int{}
		open := func() (n int) { // those with a weight
			for c := range live {
				if weight[c] > 0 {
					n++
				}
			}
			return n
		}
		some := func(t *rapid.T) (spread.Copy, bool) {
			all := []spread.Copy{}
			for c := range spread.Copy(spread.CopiesMax) {
				if live[c] || flying[c] > 0 {
					all = append(all, c)
				}
			}
			if len(all) == 0 {
				return 0, false
			}
			return rapid.SampledFrom(all).Draw(t, "copy"), true
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			},
			"add": func(t *rapid.T) {
				if len(live) < 8 {
					c, ok := s.Add(now, rapid.Bool().Draw(t, "fresh"))
					if !ok || live[c] || flying[c] > 0 {
						t.Fatalf("added as %d, %v", c, ok)
					}
					live[c], weight[c] = true, 1
				}
			},
			"weigh": func(t *rapid.T) {
				if c, ok := some(t); ok && live[c] {
					weight[c] = rapid.SampledFrom([]int{0, 0, 1, 2, 7, spread.WeightMax}).Draw(t, "weight")
					s.Weigh(now, c, weight[c])
				}
			},
			"drain": func(t *rapid.T) {
				if c, ok := some(t); ok && live[c] {
					delete(live, c)
					if gone := s.Drain(c); gone != (flying[c] == 0) {
						t.Fatalf("gone %v with %d in flight", gone, flying[c])
					}
				}
			},
			"take": func(t *rapid.T) {
				before, room := map[spread.Copy]spread.State{}, false
				for c := range live {
					st := s.State(now, c)
					before[c] = st
					room = room || !st.Out && st.Weight > 0 && (st.Slots == 0 || st.InFlight < st.Slots)
				}
				c, ok := s.Take(now, spread.None)
				if ok != (open() > 0) {
					t.Fatalf("taken %v of %d", ok, open())
				}
				if ok {
					st, known := before[c]
					if !known || st.Out || weight[c] == 0 {
						t.Fatalf("copy %d is out, resting or draining: %+v", c, st)
					}
					if room && st.Slots > 0 && st.InFlight >= st.Slots {
						t.Fatalf("copy %d has all its slots, another has not: %+v", c, st)
					}
					flying[c]++
				}
			},
			"end": func(t *rapid.T) {
				c, ok := some(t)
				if !ok || flying[c] == 0 {
					return
				}
				o := rapid.SampledFrom([]spread.Outcome{spread.Nothing, spread.Answered, spread.Busy, spread.Failed, spread.Failed, spread.Late}).Draw(t, "outcome")
				s.Judge(now, c, o, 10*time.Millisecond)
				flying[c]--
				s.Done(c)
			},
			"check": func(t *rapid.T) {
				if c, ok := some(t); ok {
					s.Checked(now, c, rapid.Bool().Draw(t, "healthy"))
				}
			},
			"": func(t *rapid.T) {
				out, slots := 0, 0
				for c := range live {
					st := s.State(now, c)
					if st.InFlight != flying[c] || st.Part < 0 || st.Part > 100 || st.Weight != weight[c] {
						t.Fatalf("copy %d: %+v, %d in flight, weight %d", c, st, flying[c], weight[c])
					}
					if st.Out {
						out++
					}
					if st.Out && st.Weight == 0 {
						t.Fatalf("copy %d rests and is counted among those that are out", c)
					}
					slots += st.Slots
				}
				if n := open(); s.Copies() != len(live) || out*100 > n*cfg.AtMost || n > 0 && out == n || n > 0 && slots < cfg.Slots {
					t.Fatalf("%d of %d out, at most %d %%; %d slots of %d", out, n, cfg.AtMost, slots, cfg.Slots)
				}
			},
		})
	})
}

// Equal copies that nothing is wrong with never differ by more than one request
// if they are given requests and none ends.
func TestLoadSpreadsWithinOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "copies")
		s := spread.New(spread.Config{Slots: rapid.IntRange(0, 30).Draw(t, "slots")}, rapid.Uint64().Draw(t, "seed"))
		for range n {
			s.Add(0, false)
		}
		for range rapid.IntRange(0, 60).Draw(t, "requests") {
			s.Take(0, spread.None)
		}
		low, high := 1<<30, 0
		for c := range spread.Copy(n) {
			got := s.State(0, c).InFlight
			low, high = min(low, got), max(high, got)
		}
		if high-low > 1 {
			t.Fatalf("from %d to %d in flight", low, high)
		}
	})
}

// A copy that is well again gets turns again, whatever happened before, within
// its longest ejection and slow start.
func TestEveryCopyGetsItsTurnAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "copies")
		cfg := spread.Config{InARow: 1, For: time.Second, AtMost: 100}
		s := spread.New(cfg, 0)
		for range n {
			s.Add(0, false)
		}
		now := unit.Instant(0)
		for range rapid.IntRange(0, 40).Draw(t, "failures") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			s.Judge(now, spread.Copy(rapid.IntRange(0, n-1).Draw(t, "copy")), spread.Failed, 0)
			s.State(now, 0)
		}
		now = now.Add(spread.TimesMax * cfg.For)
		s.State(now, 0)
		now = now.Add(spread.RampMax)
		got := map[spread.Copy]bool{}
		for range n {
			c, _ := s.Take(now, spread.None)
			s.Judge(now, c, spread.Answered, 0)
			s.Done(c)
			got[c] = true
		}
		if len(got) != n {
			t.Fatalf("%d of %d copies got a turn", len(got), n)
		}
	})
}
