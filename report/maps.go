package report

import (
	"encoding/json"
	"maps"
	"slices"
)

// Counts are requests by name: by rung or by reason. Its zero value is written
// as {}, never null.
type Counts map[string]int64

// Sum adds all counts up.
func (c Counts) Sum() int64 {
	var sum int64
	for _, n := range c {
		sum += n
	}
	return sum
}

// Names returns the names, sorted.
func (c Counts) Names() []string { return slices.Sorted(maps.Keys(c)) }

// MarshalJSON writes the names in sorted order.
func (c Counts) MarshalJSON() ([]byte, error) { return marshalMap(map[string]int64(c)) }

// Groups are accounts by class or tenant. Its zero value is written as {}.
type Groups map[string]*Group

// Names returns the names, sorted.
func (g Groups) Names() []string { return slices.Sorted(maps.Keys(g)) }

// ByTraffic returns the names, the most offered first; ties by name.
func (g Groups) ByTraffic() []string {
	names := g.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		return int(min(1, max(-1, g[b].Offered-g[a].Offered)))
	})
	return names
}

// MarshalJSON writes the names in sorted order.
func (g Groups) MarshalJSON() ([]byte, error) { return marshalMap(map[string]*Group(g)) }

// SeriesByClass holds the course of every class. Its zero value is written as {}.
type SeriesByClass map[string]*Series

// MarshalJSON writes the names in sorted order.
func (s SeriesByClass) MarshalJSON() ([]byte, error) { return marshalMap(map[string]*Series(s)) }

// Names returns the names, sorted.
func (s SeriesByClass) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Columns are counts a bucket of time, by rung or by reason.
type Columns map[string][]int64

// Names returns the names, sorted.
func (c Columns) Names() []string { return slices.Sorted(maps.Keys(c)) }

// MarshalJSON writes the names in sorted order.
func (c Columns) MarshalJSON() ([]byte, error) { return marshalMap(map[string][]int64(c)) }

// Strings is a list that is written as [] when it is empty, never as null.
type Strings []string

// MarshalJSON writes the list.
func (s Strings) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(s))
}

func marshalMap[V any](m map[string]V) ([]byte, error) {
	if m == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(m)
}

// order puts names into the order that was declared, the undeclared after it,
// sorted.
func order(declared, names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range declared {
		if slices.Contains(names, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, n := range slices.Sorted(slices.Values(names)) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// ClassNames returns the classes in the order of the configuration.
func (r *Report) ClassNames() []string { return order(r.ClassOrder, r.Classes.Names()) }

// RungNames returns the rungs that answered anything, best first.
func (r *Report) RungNames() []string { return order(r.Rungs, r.Answered.Names()) }
