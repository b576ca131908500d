package events

import (
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// Events leave the heap by instant, then by kind, then in the order of their
// making.
func TestTheHeapIsASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap
		type key struct {
			at   unit.Instant
			kind Kind
			what int32
		}
		var want []key
		pop := func() {
			e := h.Pop()
			if got := (key{e.At, e.Kind(), e.What}); got != want[0] {
				t.Fatalf("popped %v, want %v", got, want[0])
			}
			want = want[1:]
		}
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				pop()
				continue
			}
			k := key{unit.Instant(rapid.IntRange(0, 5).Draw(t, "at")), Kind(rapid.IntRange(0, 9).Draw(t, "kind")), int32(i)}
			h.Push(k.at, k.kind, k.what, 0)
			want = append(want, k)
			slices.SortStableFunc(want, func(a, b key) int {
				if a.at != b.at {
					return int(a.at - b.at)
				}
				return int(a.kind) - int(b.kind)
			})
		}
		for len(want) > 0 {
			pop()
		}
	})
}

func TestALineIsFirstInFirstOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		var want []Place
		for i := range rapid.IntRange(0, 500).Draw(t, "steps") {
			if len(want) > 0 && rapid.Bool().Draw(t, "pop") {
				if got := l.Pop(); got != want[0] {
					t.Fatalf("popped %v, want %v", got, want[0])
				}
				want = want[1:]
			} else {
				p := Place{int32(i), uint32(i)}
				l.Push(p)
				want = append(want, p)
			}
			if l.Len() != len(want) {
				t.Fatalf("%d in line, want %d", l.Len(), len(want))
			}
		}
	})
}
