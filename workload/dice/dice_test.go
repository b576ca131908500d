package dice_test

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
	"pgregory.net/rapid"
)

func TestStreamsOfOneSeedDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, seed := range []uint64{0, 1, math.MaxUint64} {
		for _, stream := range []string{"", "a", "b", "ab", "ba", "arrivals", "service"} {
			first := dice.New(seed, stream).Uint64()
			if other, twice := seen[first]; twice {
				t.Errorf("stream %q of seed %d starts like %q", stream, seed, other)
			}
			seen[first] = stream
			if again := dice.New(seed, stream).Uint64(); again != first {
				t.Errorf("stream %q of seed %d starts with %x, then with %x", stream, seed, first, again)
			}
		}
	}
}

func TestAtDependsOnTheKeyAlone(t *testing.T) {
	fresh, used := dice.New(1, "waits"), dice.New(1, "waits")
	for range 100 {
		used.Norm()
	}
	for _, key := range [][2]uint64{{0, 0}, {0, 1}, {1, 0}, {7, 2}} {
		a, b := fresh.At(key[0], key[1]), used.At(key[0], key[1])
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Errorf("At%v draws %x from fresh dice and %x from used ones", key, x, y)
		}
	}
	seen := map[uint64]bool{}
	for a := range uint64(100) {
		for b := range uint64(100) {
			d := fresh.At(a, b)
			seen[d.Uint64()] = true
		}
	}
	if len(seen) != 100*100 {
		t.Errorf("10,000 keys give %d different first draws", len(seen))
	}
}

func TestIntnStaysInRangeAndIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, math.MaxInt).Draw(t, "n")
		d := dice.New(rapid.Uint64().Draw(t, "seed"), "intn")
		for range 20 {
			if got := d.Intn(n); got < 0 || got >= n {
				t.Fatalf("Intn(%d) = %d", n, got)
			}
		}
	})
	// 3/4 of 2^63: a biased multiplication or remainder shows at once, as some
	// thirds would be drawn twice as often as others.
	const n, draws = 3 << 61, 300_000
	var thirds [3]float64
	d := dice.New(1, "thirds")
	for range draws {
		thirds[d.Intn(n)/(n/3)]++
	}
	for i, c := range thirds {
		if math.Abs(c-draws/3) > 5*math.Sqrt(draws*2.0/9) {
			t.Errorf("third %d was drawn %v times of %d", i, c, draws)
		}
	}
}

func TestIntnRefusesAnEmptyRange(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Intn(0) did not panic")
		}
	}()
	dice.New(1, "").Intn(0)
}

func TestBoolKeepsTheStreamInStep(t *testing.T) {
	a, b := dice.New(1, "bool"), dice.New(1, "bool")
	if a.Bool(0) || !b.Bool(1) {
		t.Error("Bool(0) must be false and Bool(1) true")
	}
	if a.Uint64() != b.Uint64() {
		t.Error("Bool draws a different number of times for p = 0 and p = 1")
	}
}

func TestShuffleIsAPermutation(t *testing.T) {
	things := make([]int, 50)
	for i := range things {
		things[i] = i
	}
	dice.New(1, "shuffle").Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
	seen, moved := map[int]bool{}, 0
	for i, x := range things {
		seen[x] = true
		if x != i {
			moved++
		}
	}
	if len(seen) != 50 || moved < 40 {
		t.Errorf("%d different things, %d of 50 moved", len(seen), moved)
	}
}

func TestDrawingAllocatesNothing(t *testing.T) {
	d := dice.New(1, "alloc")
	if n := testing.AllocsPerRun(100, func() {
		at := d.At(1, 2)
		_ = at.LogNormal(0, 1) + at.Exp() + float64(at.Intn(3))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
