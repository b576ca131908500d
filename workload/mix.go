package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Share is a name and its part of a Mix.
type Share struct {
	Name  string
	Share float64 // any positive number: only the ratios matter
}

// Mix is a choice among names with given shares. Its zero value always chooses
// the empty name. Safe for concurrent use; a choice costs a binary search.
type Mix struct {
	shares []Share
	upTo   []float64 // cumulative, the last one is the sum
}

// maxShares bounds a mix: it is written by a person or a lab.
const maxShares = 1 << 20

// NewMix returns a choice among shares.
func NewMix(shares ...Share) (Mix, error) {
	if len(shares) > maxShares {
		return Mix{}, fmt.Errorf("a mix of %d names: the most is %d", len(shares), maxShares)
	}
	m := Mix{shares: slices.Clone(shares), upTo: make([]float64, len(shares))}
	sum := 0.0
	seen := make(map[string]bool, len(shares))
	for i, s := range shares {
		if !(s.Share > 0) || math.IsInf(s.Share, 0) {
			return Mix{}, fmt.Errorf("share %v of %q: must be a number above 0", s.Share, s.Name)
		}
		if seen[s.Name] {
			return Mix{}, fmt.Errorf("%q is named twice; give it one share", s.Name)
		}
		seen[s.Name] = true
		sum += s.Share
		m.upTo[i] = sum
	}
	if math.IsInf(sum, 0) {
		return Mix{}, fmt.Errorf("the shares add up to more than a number can hold; only their ratios matter")
	}
	return m, nil
}

// Only returns the mix of one name.
func Only(name string) Mix {
	return Mix{shares: []Share{{name, 1}}, upTo: []float64{1}}
}

// ParseMix reads names with their shares, or names alone, which share alike:
//
//	acme=8,beta=1
//	acme,beta
func ParseMix(text string) (Mix, error) {
	var shares []Share
	for part := range strings.SplitSeq(text, ",") {
		name, share, shared := strings.Cut(strings.TrimSpace(part), "=")
		s := Share{Name: strings.TrimSpace(name), Share: 1}
		if s.Name == "" {
			return Mix{}, fmt.Errorf("mix %q: a name is missing; write acme=8,beta=1", text)
		}
		if shared {
			var err error
			if s.Share, err = strconv.ParseFloat(strings.TrimSpace(share), 64); err != nil {
				return Mix{}, fmt.Errorf("mix %q: %q is no share of %s; write %s=8", text, share, s.Name, s.Name)
			}
		}
		shares = append(shares, s)
	}
	m, err := NewMix(shares...)
	if err != nil {
		return Mix{}, fmt.Errorf("mix %q: %w", text, err)
	}
	return m, nil
}

// String writes the mix as ParseMix reads it.
func (m Mix) String() string {
	var b strings.Builder
	for i, s := range m.shares {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.Name + "=" + strconv.FormatFloat(s.Share, 'g', -1, 64))
	}
	return b.String()
}

// Shares returns a copy of what the mix is made of.
func (m Mix) Shares() []Share { return slices.Clone(m.shares) }

// Draw returns the index of the chosen name, and 0 for an empty mix. It draws
// one number in any case.
func (m Mix) Draw(d *dice.Dice) int {
	u := d.Float64()
	if len(m.upTo) < 2 {
		return 0
	}
	x := float64(u * m.upTo[len(m.upTo)-1])
	i, exact := slices.BinarySearch(m.upTo, x)
	if exact {
		i++ // each name owns [from, upTo)
	}
	return min(i, len(m.upTo)-1)
}
