package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Keys is which questions are asked how often. Its zero value names no keys.
type Keys struct {
	n     int
	alike bool
	upTo  []float64 // cumulative shares, nil where all are asked alike
}

// keysMost bounds a law of keys: its table takes 8 bytes each.
const keysMost = 1_000_000

// ParseKeys reads how many questions there are, of which the k-th is asked 1/k as
// often as the first, as web pages are (Breslau and others, "Web Caching and
// Zipf-like Distributions", INFOCOM 1999), or alike:N for all as often:
//
//	1000
//	alike:1000
//
// "" and 0 are none.
func ParseKeys(text string) (Keys, error) {
	number, alike := strings.CutPrefix(text, "alike:")
	if number == "" && !alike {
		return Keys{}, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > keysMost {
		return Keys{}, fmt.Errorf("keys %q: write how many there are, 0 to %d, or alike:1000", text, keysMost)
	}
	k := Keys{n: n, alike: alike}
	if n > 0 && !alike {
		k.upTo = make([]float64, n)
		sum := 0.0
		for i := range k.upTo {
			sum += 1 / float64(i+1)
			k.upTo[i] = sum
		}
	}
	return k, nil
}

// String writes the law as ParseKeys reads it.
func (k Keys) String() string {
	if k.alike {
		return "alike:" + strconv.Itoa(k.n)
	}
	return strconv.Itoa(k.n)
}

// draw returns the key of one request, never 0 where there are any. The cost is a
// binary search.
func (k Keys) draw(d *dice.Dice) uint64 {
	switch {
	case k.n == 0:
		return 0
	case k.upTo == nil:
		return uint64(d.Intn(k.n)) + 1
	}
	i, _ := slices.BinarySearch(k.upTo, float64(d.Float64()*k.upTo[k.n-1]))
	return uint64(min(i, k.n-1)) + 1
}
