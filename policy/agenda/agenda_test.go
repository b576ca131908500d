package agenda

import (
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// The oracle is a plain slice: what was set last stands last among equals, and
// the earliest comes first.
type oracle struct{ entries []*Entry[int] }

func (o *oracle) strike(e *Entry[int]) {
	o.entries = slices.DeleteFunc(o.entries, func(f *Entry[int]) bool { return f == e })
}

func TestAgreesWithASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Agenda[int]
		var o oracle
		at := map[*Entry[int]]unit.Instant{}
		entries := make([]Entry[int], 20)
		for i := range entries {
			entries[i].Item = i
		}
		entry := rapid.Custom(func(t *rapid.T) *Entry[int] { return &entries[rapid.IntRange(0, 19).Draw(t, "entry")] })
		instant := rapid.Map(rapid.IntRange(0, 12), func(i int) unit.Instant {
			if i == 12 {
				return unit.Never
			}
			return unit.Instant(i) // few, so that many are equal
		})
		set := func(t *rapid.T) {
			e, when := entry.Draw(t, "set"), instant.Draw(t, "at")
			a.Set(e, when)
			o.strike(e)
			if when != unit.Never {
				at[e] = when
				o.entries = append(o.entries, e)
				slices.SortStableFunc(o.entries, func(x, y *Entry[int]) int { return int(at[x] - at[y]) })
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":       set,
			"set again": set,
			"strike": func(t *rapid.T) {
				e := entry.Draw(t, "strike")
				a.Strike(e)
				o.strike(e)
			},
			"pop": func(t *rapid.T) {
				now := instant.Draw(t, "now")
				var want *Entry[int]
				if len(o.entries) > 0 && at[o.entries[0]] <= now {
					want = o.entries[0]
					o.strike(want)
				}
				if got := a.Pop(now); got != want {
					t.Fatalf("popped %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				next := unit.Never
				if len(o.entries) > 0 {
					next = at[o.entries[0]]
				}
				if a.Next() != next || a.Len() != len(o.entries) {
					t.Fatalf("next %v of %d, want %v of %d", a.Next(), a.Len(), next, len(o.entries))
				}
				for i := range entries {
					e := &entries[i]
					on := slices.Contains(o.entries, e)
					if e.On() != on || on && e.At() != at[e] || !on && e.At() != unit.Never {
						t.Fatalf("entry %d: on %v at %v, want on %v at %v", i, e.On(), e.At(), on, at[e])
					}
				}
			},
		})
	})
}

func TestTiesLeaveInOrderOfEntry(t *testing.T) {
	var a Agenda[int]
	entries := make([]Entry[int], 1000)
	for i := range entries {
		entries[i].Item = i
		a.Set(&entries[i], 5)
	}
	for i := range entries {
		if e := a.Pop(5); e == nil || e.Item != i {
			t.Fatalf("entry %d left as number %d", e.Item, i)
		}
	}
}

func TestAllocatesNothingAtItsSize(t *testing.T) {
	var a Agenda[int]
	var entries [64]Entry[int]
	round := func() {
		for i := range entries {
			a.Set(&entries[i], unit.Instant(i*7919%64))
		}
		for a.Pop(64) != nil {
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSetPop(b *testing.B) {
	var a Agenda[int]
	entries := make([]Entry[int], 1000)
	for i := range entries {
		a.Set(&entries[i], unit.Instant(i))
	}
	b.ReportAllocs()
	for i := range b.N {
		e := a.Pop(unit.Never)
		a.Set(e, e.at+unit.Instant(1000+i%7))
	}
}
