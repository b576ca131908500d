package quality

import (
	"strconv"
	"testing"

	"github.com/spillway-dev/spillway/policy/shed"
)

// ids are more than are remembered, so that each pushes another out.
func ids() []string {
	all := make([]string, 2*RememberedMost)
	for i := range all {
		all[i] = "3f9d6a51-0c7e-4b52-9a1e-" + strconv.FormatInt(1<<40+int64(i), 16)
	}
	return all
}

// What remembering an answer costs its request, once the book is full.
func BenchmarkRemember(b *testing.B) {
	book, all := NewBook(), ids()
	of := book.Rung("search", "primary").Of(shed.Useless/2, false)
	for _, id := range all {
		book.Remember(id, of)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		book.Remember(all[i%len(all)], of)
	}
}
