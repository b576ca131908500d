//go:build !nocel

package expr_test

import (
	"testing"

	"github.com/spillway-dev/spillway/expr"
)

// BenchmarkGap is what classifying a request costs more in a class whose gap is an
// expression.
func BenchmarkGap(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"Design", `size(query.q) >= 4 ? 0.1 : 0.9`},
		{"Pattern", `path.matches('^/api/v[0-9]+/search') ? 0.9 : 0.1`},
		{"List", `['/a', '/b', '/api/'].exists(p, path.startsWith(p)) ? 0.9 : 0.1`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := expr.Compile(expr.Gap, c.text)
			if err != nil {
				b.Fatal(err)
			}
			r := &made{path: "/api/v2/search", query: map[string]string{"q": "lamps"}}
			b.ReportAllocs()
			for b.Loop() {
				p.Number(r)
			}
		})
	}
}
