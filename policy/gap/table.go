package gap

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/policy/shed"
)

// Row gives the gap of a text, or with Rest of every text that begins with it.
type Row struct {
	Text string
	Rest bool
	Gap  shed.Gap
}

// Range gives the gap of numbers up to To, those of the range below it excepted.
type Range struct {
	To  float64
	Gap shed.Gap
}

// Table looks gaps up. It is not changed once made, and safe for concurrent use. The
// zero Table knows nothing: every gap is useless.
type Table struct {
	exact  map[string]shed.Gap
	begins []Row // the longest first
	ranges []Range
}

// NewTable returns the table of these rows and ranges. Of two rows for one text the
// first counts.
func NewTable(rows []Row, ranges []Range) Table {
	t := Table{exact: make(map[string]shed.Gap), ranges: slices.Clone(ranges)}
	for _, r := range rows {
		if _, twice := t.exact[r.Text]; r.Rest {
			t.begins = append(t.begins, r)
		} else if !twice {
			t.exact[r.Text] = r.Gap
		}
	}
	slices.SortStableFunc(t.begins, func(a, b Row) int { return len(b.Text) - len(a.Text) })
	slices.SortStableFunc(t.ranges, func(a, b Range) int { return cmp.Compare(a.To, b.To) })
	return t
}

// numberMost is the longest text that is read as a number.
const numberMost = 32

// Of returns the gap of a text: that of the text itself, else of the range it lies in
// as a number, else of the longest row that it begins with, else useless. It costs a
// look for the text and at worst one at each row and range, and allocates nothing but
// for what looks like a number and is none.
func (t *Table) Of(text string) shed.Gap {
	if g, ok := t.exact[text]; ok {
		return g
	}
	if g, ok := t.ranged(text); ok {
		return g
	}
	for i := range t.begins {
		if strings.HasPrefix(text, t.begins[i].Text) {
			return t.begins[i].Gap
		}
	}
	return shed.Useless
}

func (t *Table) ranged(text string) (shed.Gap, bool) {
	if len(t.ranges) == 0 || text == "" || len(text) > numberMost || !strings.ContainsAny(text[:1], "+-.0123456789") {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	for _, r := range t.ranges {
		if n <= r.To {
			return r.Gap, true
		}
	}
	return 0, false
}
