package quality

import (
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/policy/shed"
)

// What is said of answers is kept apart by rung, by bucket of the gap, and by whether
// they were shed; each answer is judged once.
func TestWhatIsSaidOfAnswersIsAddedUpByWhoGaveThem(t *testing.T) {
	b := NewBook()
	primary, list := b.Rung("search", "primary"), b.Rung("search", "list")
	if b.Rung("search", "list") != list || b.Rung("other", "list") == list {
		t.Error("a rung is not the same at every call, or is another class's")
	}
	const low, high = shed.Gap(10_000), shed.Gap(900_000)
	for i := range 100 {
		id := strconv.Itoa(i)
		switch {
		case i < 40:
			b.Remember(id, primary.Of(low, false))
		case i < 80:
			b.Remember(id, list.Of(low, true))
		case i < 90:
			b.Remember(id, list.Of(low, false))
		default:
			b.Remember(id, primary.Of(high, false))
		}
	}
	for i := range 80 {
		score := float64(i % 2) // half of them are accepted
		if i >= 40 {
			score = 0.25
		}
		if !b.Judge(strconv.Itoa(i), score) {
			t.Errorf("%d is not remembered", i)
		}
	}
	if b.Judge("3", 1) || b.Judge("nobody", 1) {
		t.Error("an answer is judged twice, or one that there was not")
	}
	want := []Figure{
		{Rung: "primary", Bucket: low.Bucket(), Answers: 40, Judged: 40, Mean: 0.5, Error: 0.157},
		{Rung: "primary", Bucket: high.Bucket(), Answers: 10},
		{Rung: "list", Bucket: low.Bucket(), Answers: 10},
		{Rung: "list", Bucket: low.Bucket(), Shed: true, Answers: 40, Judged: 40, Mean: 0.25},
	}
	got := b.Figures("search")
	if len(got) != len(want) || len(b.Figures("other")) != 0 {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		w.Gap = shed.LeastGap(w.Bucket)
		g := got[i]
		if math.Abs(g.Error-w.Error) > 1e-3 || math.Abs(g.Mean-w.Mean) > 1e-9 {
			t.Errorf("%+v, want %+v", g, w)
		}
		if g.Error, g.Mean, w.Error, w.Mean = 0, 0, 0, 0; g != w {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
}

// Memory follows the bound, not the traffic; the latest are remembered.
func TestTheLatestAnswersAreRemembered(t *testing.T) {
	b := NewBook()
	of := b.Rung("c", "primary").Of(0, false)
	for i := range 3 * RememberedMost {
		b.Remember(strconv.Itoa(i), of)
	}
	known := 0
	for i := range b.shards {
		known += len(b.shards[i].index)
	}
	if known > RememberedMost || known < RememberedMost*9/10 {
		t.Errorf("%d answers are remembered, at most %d are to be", known, RememberedMost)
	}
	if b.Judge("7", 1) || !b.Judge(strconv.Itoa(3*RememberedMost-1), 1) {
		t.Error("it is not the latest that are remembered")
	}
}

// A score from elsewhere is within its bounds, whatever was sent.
func TestManyAtOnce(t *testing.T) {
	b := NewBook()
	of := b.Rung("c", "primary").Of(0, false)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 2000 {
				id := strconv.Itoa(i*8 + g)
				b.Remember(id, of)
				b.Judge(id, float64(i%3)-0.5)
			}
		})
	}
	all.Wait()
	f := b.Figures("c")[0]
	if f.Judged != 16_000 || f.Answers != 16_000 || f.Mean < 0 || f.Mean > 1 {
		t.Errorf("%+v", f)
	}
}

func TestRememberingAllocatesNothing(t *testing.T) {
	b, all := NewBook(), ids()
	of := b.Rung("c", "primary").Of(0, false)
	for _, id := range all { // from now on each pushes another out
		b.Remember(id, of)
	}
	i := 0
	if n := testing.AllocsPerRun(len(all), func() { b.Remember(all[i%len(all)], of); i++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
