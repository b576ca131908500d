//go:build !nocel

package expr_test

import (
	"strings"
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

// BenchmarkDearest is the other end: expressions about as dear as they may be, over
// values as long as they are looked at.
func BenchmarkDearest(b *testing.B) {
	r := &made{path: strings.Repeat("a", expr.ValueMost), query: map[string]string{"q": strings.Repeat("a", expr.ValueMost)}}
	for name, text := range map[string]string{
		"Patterns": `path.matches('(a|aa|aaa|b|c|d|e|f|g|h|i|j)*x$') || query.q.matches('(a|aa|aaa)*y$')`,
		"Lists":    `[1,2,3,4,5,6,7,8,9,10].all(x, [1,2,3,4,5,6,7,8,9,10].all(y, x*y > 0 && size(path) > x))`,
	} {
		b.Run(name, func(b *testing.B) {
			p, err := expr.Compile(expr.Condition, text)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.Bool(r)
			}
		})
	}
}
