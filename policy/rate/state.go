package rate

import (
	"cmp"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Used is what one client has used up, as a value that another table can take in,
// whatever its clock says.
type Used struct {
	Key Key `json:"key"`
	// FullInNS is in how long its bucket is full again, IntervalNS the interval of
	// the rule that this is by.
	FullInNS   int64   `json:"full_in_ns"`
	IntervalNS float32 `json:"interval_ns"`
}

// Export returns the clients whose bucket is not full, those first that are the
// furthest from it, and at most that many: whom it leaves out has the most left
// anyway. Requests under way are not part of it. It looks at the whole table.
func (t *Table) Export(now unit.Instant, most int) []Used {
	var all []Used
	for i := range t.sets {
		for _, e := range t.sets[i] {
			if e.key != 0 && e.full > now {
				all = append(all, Used{e.key, int64(e.full.Sub(now)), e.interval})
			}
		}
	}
	slices.SortFunc(all, func(a, b Used) int {
		return cmp.Or(cmp.Compare(b.FullInNS, a.FullInNS), cmp.Compare(a.Key, b.Key))
	})
	return slices.Clip(all[:min(len(all), max(most, 0))])
}

// Import has the clients owe what they had used up elsewhere; who owes more here
// already goes on owing that. Where too many share a set, the busiest stay.
func (t *Table) Import(now unit.Instant, all []Used) {
	for _, u := range all {
		full := now.Add(time.Duration(min(max(u.FullInNS, 0), slackMax)))
		if u.Key == 0 || full <= now || !(u.IntervalNS > 0) {
			continue
		}
		e := t.find(u.Key)
		if e == nil {
			if e = t.victim(u.Key); e == nil || e.key != 0 && e.full >= full {
				continue
			}
			*e = entry{key: u.Key}
		}
		if e.full < full {
			e.full, e.interval = full, u.IntervalNS
		}
	}
}
