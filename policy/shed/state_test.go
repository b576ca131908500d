package shed

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// What is said to be the least gap that would have been served is: of two laws that
// have lived through the same one is asked with it, and serves; with a gap of the
// bucket below it, and sheds.
func TestTheLeastGapThatWouldHaveBeenServedIs(t *testing.T) {
	said := 0
	rapid.Check(t, func(t *rapid.T) {
		type event struct {
			share, urgency float64
			ask            Ask
		}
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return event{rapid.Float64Range(0, 1).Draw(t, "share"), rapid.SampledFrom([]float64{0, 0, 1}).Draw(t, "urgency"),
				Ask{Gap: Gap(rapid.IntRange(0, int(Useless)).Draw(t, "gap")), Session: rapid.Uint64Range(0, 3).Draw(t, "session"), Stretch: rapid.Uint64Range(0, 1).Draw(t, "stretch")}}
		}), 1, 30).Draw(t, "events")
		now := unit.Instant(time.Second)
		live := func() (l *Law, shed bool) {
			l = at(0, Rule{})
			for _, e := range events {
				l.set(e.share, e.urgency)
				shed = l.Sheds(now, &e.ask)
			}
			return l, shed
		}
		l, shed := live()
		if !shed {
			return
		}
		a := events[len(events)-1].ask
		least, _ := l.Would(now, &a)
		if least <= Useless {
			said++
			a.Gap = least
			if other, _ := live(); other.Sheds(now, &a) {
				t.Fatalf("with a gap of %d it is shed all the same", least)
			}
		}
		if turns := a.Session == 0 && l.cut.part > 0; !turns { // requests without a session take them
			a.Gap = least - 1
			if other, _ := live(); !other.Sheds(now, &a) {
				t.Fatalf("with %d it is served, %d was said to be the least", a.Gap, least)
			}
		}
	})
	if said < 10 && !testing.Short() { // with few draws it may be fewer
		t.Errorf("a gap was said %d times", said)
	}
}

// Whatever another process says it has learned, a law that is told it goes on.
func TestAnyMemoryIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Memory{Share: rapid.Int().Draw(t, "share"), PerS: rapid.SliceOfN(rapid.Float64(), 0, levels+1).Draw(t, "per s")}
		if rapid.Bool().Draw(t, "of the right length") {
			m.PerS = append(m.PerS, make([]float64, levels)...)[:levels]
			m.PerS[3] = math.NaN()
		}
		l := New(Rule{})
		l.Import(m)
		s := newService(Rule{})
		s.Law = l
		s.offer(12000, 200*time.Millisecond)
		if share := l.Share(); share < 0 || share > 1e6 || math.IsNaN(l.demand.total) {
			t.Fatalf("a share of %d, a demand of %v", share, l.demand.total)
		}
	})
}

func TestMemoryGoesThroughJSON(t *testing.T) {
	s := newService(Rule{})
	s.offer(12000, 2*time.Second)
	text, err := json.Marshal(s.Export())
	if err != nil {
		t.Fatal(err)
	}
	var m Memory
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	next := New(Rule{})
	next.Import(m)
	if a, b := s.State(), next.State(); a.Share != b.Share || a.Gap != b.Gap || a.DemandPerS != b.DemandPerS {
		t.Errorf("%+v became %+v", a, b)
	}
}
