package pool

import (
	"strings"
	"testing"
)

// What a caller calls itself costs no more than NameMax bytes.
func TestLongNamesAreCut(t *testing.T) {
	p := New(Config{Slots: 1})
	long := strings.Repeat("n", NameMax)
	for _, name := range []string{long, long + "a", long + strings.Repeat("b", 1<<20)} {
		if got := p.Get(name); got.Name != long {
			t.Errorf("a name of %d bytes is kept in %d", len(name), len(got.Name))
		}
	}
	if p.Get(long[:NameMax-1]) == p.Get(long) {
		t.Error("names that fit are not told apart")
	}
	if got := p.Len(); got != 3 { // with the tenant that has no name
		t.Errorf("%d tenants are remembered, want 3", got)
	}
}
