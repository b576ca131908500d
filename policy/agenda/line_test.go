package agenda

import (
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
)

// What is struck off behind one that stays for long leaves gaps, which are closed
// before the ring grows: its memory follows how many there are at once.
func TestGapsAreClosed(t *testing.T) {
	var a Agenda[int]
	var stays, late Entry[int]
	a.Set(&stays, 1)
	entries := make([]Entry[int], 4)
	for i := range 10_000 {
		e := &entries[i%len(entries)]
		a.Strike(e)
		a.Set(e, unit.Instant(2+i))
	}
	a.Set(&late, unit.Never-1)
	if got := len(a.line.ring); got > 4*(len(entries)+2) {
		t.Errorf("a ring of %d for %d entries", got, a.Len())
	}
	want := []*Entry[int]{&stays, &entries[0], &entries[1], &entries[2], &entries[3], &late}
	for i, w := range want {
		if e := a.Pop(unit.Never); e != w {
			t.Fatalf("entry %d to leave is due at %v", i, e.At())
		}
	}
}

// One time limit for all keeps everything in the line, whatever waits; another one
// sends to the heap what is due before the last of it.
func TestInOrderIsInLine(t *testing.T) {
	var a Agenda[int]
	entries := make([]Entry[int], 100)
	for i := range entries {
		a.Set(&entries[i], unit.Instant(1000+i))
	}
	if len(a.heap) != 0 {
		t.Errorf("%d of %d that came in order are in the heap", len(a.heap), len(entries))
	}
	var sooner Entry[int]
	a.Set(&sooner, 5)
	if a.Next() != 5 || a.Pop(5) != &sooner || a.Next() != 1000 {
		t.Errorf("next is %v", a.Next())
	}
}
