package fair

import (
	"fmt"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
)

func BenchmarkPick(b *testing.B) {
	for _, p := range []Policy{RR, WRR, DRR, Priority} {
		for _, n := range []int{1, 10, 1000} {
			b.Run(fmt.Sprintf("%v/%d", p, n), func(b *testing.B) {
				s := New(p)
				for i := range n {
					s.Join(&Flow{Weight: int64(1 + i%3), Rank: i, Owner: i})
				}
				b.ReportAllocs()
				for i := range b.N {
					s.Serve(s.Next(), unit.Cost(1+i%10))
				}
			})
		}
	}
}
