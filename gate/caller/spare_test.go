package caller

import (
	"errors"
	"testing"
)

// Calls that are over are kept, each once, no more than there is use for, and nothing of
// what they were about with them.
func TestSpareIsBoundedAndForgets(t *testing.T) {
	var s spare
	calls := make([]*Call, 3*spareMax)
	for i := range calls {
		calls[i] = s.take()
		calls[i].key, calls[i].last = "secret", errors.New("of another")
	}
	for _, x := range calls {
		s.give(x)
	}
	if s.kept != spareMax {
		t.Fatalf("%d are kept, want %d", s.kept, spareMax)
	}
	seen := map[*Call]bool{}
	for range spareMax {
		x := s.take()
		if seen[x] {
			t.Fatal("one is handed out twice")
		}
		if seen[x] = true; x.key != "" || x.last != nil || x.spare != nil {
			t.Fatalf("it remembers %q, %v", x.key, x.last)
		}
	}
	if s.kept != 0 || s.first != nil {
		t.Errorf("%d are left", s.kept)
	}
}
