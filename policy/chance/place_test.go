package chance_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/spillway-dev/spillway/policy/chance"
)

// A share holds its part of all keys, and what one salt selects says nothing of
// what another does.
func TestSharesAreEvenAndIndependent(t *testing.T) {
	const keys = 100_000
	in, both := 0, 0
	for i := range keys {
		key := chance.Key(fmt.Sprintf("session-%d", i))
		one := chance.Place(1, key) < chance.Whole/10
		other := chance.Place(2, key) < chance.Whole/10
		if one {
			in++
		}
		if one && other {
			both++
		}
	}
	within := func(what string, got int, share float64) {
		t.Helper()
		want, spread := keys*share, 5*math.Sqrt(keys*share*(1-share))
		if math.Abs(float64(got)-want) > spread {
			t.Errorf("%s: %d of %d keys, want %.0f, give or take %.0f", what, got, keys, want, spread)
		}
	}
	within("a tenth", in, 0.1)
	within("a tenth of a tenth", both, 0.01)
}

func TestPlacesStayInRangeAndAKeyIsNeverNone(t *testing.T) {
	for i := range uint64(10_000) {
		if p := chance.Place(chance.Salt(i), i); p < 0 || p >= chance.Whole {
			t.Fatalf("key %d stands at %d", i, p)
		}
	}
	if chance.Key("") == 0 || chance.Key("a") == chance.Key("b") {
		t.Error("the empty text has key 0, or two texts have one key")
	}
}
