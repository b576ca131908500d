package spread_test

import (
	"container/heap"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

func weighted(t testing.TB, cfg spread.Config, weights ...int) *play {
	p := start(t, len(weights), cfg)
	for c, w := range weights {
		p.Weigh(p.now, spread.Copy(c), w)
	}
	return p
}

func total(weights []int) (sum int) {
	for _, w := range weights {
		sum += w
	}
	return sum
}

// aWeights draws the weights of one to six copies, none 0.
func aWeights(t *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(1, 50), 1, 6).Draw(t, "weights")
}

// Where each request ends before the next begins, as many as the weights sum up to
// are shared exactly.
func TestSharesAreExactWhereNothingIsInFlight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := aWeights(t)
		s := spread.New(spread.Config{Slots: rapid.IntRange(0, 9).Draw(t, "slots")}, rapid.Uint64().Draw(t, "seed"))
		for c, w := range weights {
			s.Add(0, false)
			s.Weigh(0, spread.Copy(c), w)
		}
		got := make([]int, len(weights))
		for range 2 * total(weights) {
			c, _ := s.Take(0, spread.None)
			got[c]++
			s.Done(c)
		}
		for c, w := range weights {
			if got[c] != 2*w {
				t.Fatalf("turns %v for weights %v", got, weights)
			}
		}
	})
}

// If none ends, nobody has more than one above its part or two below; and as long as
// no more is given than there are slots, nobody has more than its own.
func TestLoadFollowsWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := aWeights(t)
		sum := total(weights)
		cfg := spread.Config{Slots: rapid.IntRange(0, 300).Draw(t, "slots")}
		s := spread.New(cfg, rapid.Uint64().Draw(t, "seed"))
		for c, w := range weights {
			s.Add(0, false)
			s.Weigh(0, spread.Copy(c), w)
		}
		most := 300
		if cfg.Slots > 0 {
			most = cfg.Slots
		}
		for n := 1; n <= most; n++ {
			s.Take(0, spread.None)
			for c, w := range weights {
				st := s.State(0, spread.Copy(c))
				if over := float64(st.InFlight) - float64(n*w)/float64(sum); over > 1+1e-9 || over < -2 {
					t.Fatalf("copy %d of weights %v has %d of %d in flight, %.2f above its part", c, weights, st.InFlight, n, over)
				}
				if st.Slots > 0 && st.InFlight > st.Slots || cfg.Slots > 0 && st.Slots != spread.Part(cfg.Slots, w, sum) {
					t.Fatalf("copy %d of weights %v has %d in flight and %d of %d slots", c, weights, st.InFlight, st.Slots, cfg.Slots)
				}
			}
		}
	})
}

// ending is a request that ends.
type ending struct {
	at   unit.Instant
	copy spread.Copy
}

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at < e[j].at }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// shares is what part of many requests each copy gets if at any time so many are in
// flight, each for 0 to 200 ms by chance.
func (p *play) shares(copies, inFlight int) []float64 {
	const requests = 20_000
	dice := chance.New(1)
	var flying endings
	got := make([]float64, copies)
	for range requests {
		if flying.Len() == inFlight {
			end := heap.Pop(&flying).(ending)
			p.now = end.at
			p.Done(end.copy)
		}
		c := p.take()
		got[c] += 1. / requests
		heap.Push(&flying, ending{p.now.Add(time.Duration(dice.Below(200e6))), c})
	}
	return got
}

// Least loaded for its weight is not enough for that: see parted.
func TestSharesFollowWeightsHoweverMuchIsInFlight(t *testing.T) {
	for _, weights := range [][]int{{1, 1}, {2, 1}, {99, 1}, {5, 3, 2}, {3, 1, 1, 1}, {10, 9, 8, 7, 1}, {100, 99, 1}, {0, 2, 1}} {
		for _, inFlight := range []int{1, 2, 3, 6, 11, 31, 100} {
			p := weighted(t, spread.Config{Slots: 100}, weights...)
			for c, share := range p.shares(len(weights), inFlight) {
				want := float64(weights[c]) / float64(total(weights))
				if math.Abs(share-want) > 0.05*want+0.005 {
					t.Errorf("weights %v, %d in flight: copy %d gets %.3f, want %.3f", weights, inFlight, c, share, want)
				}
			}
		}
	}
}

// A copy that is slow has its part in flight, so that it gets as much less as it is
// slower.
func TestAHeavyCopyThatIsSlowGetsLess(t *testing.T) {
	p := weighted(t, spread.Config{}, 3, 1)
	for range 3 { // never end
		for p.take() != 0 {
			p.Done(1)
		}
	}
	for range 20 {
		if c := p.take(); c != 1 {
			t.Fatal("the copy of weight 3 has three in flight, the other none")
		}
		p.Done(1)
	}
}

func TestACopyOfNoWeightRests(t *testing.T) {
	p := weighted(t, spread.Config{Slots: 8}, 1, 1)
	c := p.take()
	p.Weigh(p.now, c, 0)
	for range 6 {
		if got, _ := p.Take(p.now, 1-c); got == c { // not even for who wants another
			t.Fatal("it got a request")
		}
	}
	if st := p.State(p.now, c); st.InFlight != 1 || st.Weight != 0 {
		t.Errorf("%+v; it ends what it has", st)
	}
	if st := p.State(p.now, 1-c); st.Slots != 8 {
		t.Errorf("the other counts as saturated at %d of 8 slots, which are all its own now", st.Slots)
	}
	if p.Done(c) {
		t.Error("it has gone; it rests")
	}
	p.Weigh(p.now, 1-c, 0)
	if _, ok := p.Take(p.now, spread.None); ok {
		t.Error("all rest, and one got a request")
	}
}

// One that rests is none of those of whom a share may be out: of the two others one may.
func TestTheFloorLeavesOutWhoRests(t *testing.T) {
	p := weighted(t, spread.Config{AtMost: 50}, 1, 1, 0)
	p.fail(0, 5)
	p.fail(2, 5) // what it had when it was laid to rest
	if !p.out(0) || p.out(1) || p.out(2) {
		t.Errorf("out: %v %v %v", p.out(0), p.out(1), p.out(2))
	}
	p.fail(1, 5)
	if !p.Panic() || p.out(0) {
		t.Error("both of those in use are bad: both are used")
	}
	p.Weigh(p.now, 2, 1)
	if !p.Panic() {
		t.Error("what became of its calls while it rested is not forgotten")
	}
}

func TestWhoHasRestedStartsSlowly(t *testing.T) {
	p := weighted(t, spread.Config{}, 1, 3)
	p.Weigh(p.now, 1, 0)
	p.after(10*time.Second).Weigh(p.now, 1, 3)
	for _, want := range []struct {
		after       time.Duration
		least, most int // of 400 turns; 300 are its share
	}{{0, 20, 40}, {5 * time.Second, 130, 170}, {5 * time.Second, 295, 316}} {
		p.after(want.after)
		if got := p.turns(400, 2)[1]; got < want.least || got > want.most {
			t.Errorf("%d of 400 turns at %d %% of its part, want %d to %d", got, p.State(p.now, 1).Part, want.least, want.most)
		}
	}
}

func TestAnotherWeightAloneIsNoSlowStart(t *testing.T) {
	p := weighted(t, spread.Config{}, 1, 1)
	p.Weigh(p.now, 1, 3)
	if got := fmt.Sprint(p.turns(400, 2), p.State(p.now, 1).Part); got != "[100 300] 100" {
		t.Errorf("turns, and part: %s", got)
	}
	p.Weigh(p.now, 1, 1)
	if got := fmt.Sprint(p.turns(4, 2)); got != "[2 2]" {
		t.Errorf("turns %s", got)
	}
}

func TestWeightsAreBounded(t *testing.T) {
	p := weighted(t, spread.Config{}, 1<<40, -1)
	if a, b := p.State(p.now, 0).Weight, p.State(p.now, 1).Weight; a != spread.WeightMax || b != 0 {
		t.Errorf("%d and %d", a, b)
	}
}
