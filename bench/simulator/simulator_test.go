package main

import (
	"math"
	"testing"
)

// TestSameWork shows that both sides simulate about the same: below capacity
// nearly all are served, above it about what 64 servers of 100 ms can do. Ours
// counts as timeout, not as served, what was answered after its deadline.
func TestSameWork(t *testing.T) {
	const n = 50_000
	for _, load := range loads {
		r, err := runOurs(n, load)
		if err != nil {
			t.Fatal(err)
		}
		ours, idiom := float64(r.Reasons["served"])/float64(r.Offered), float64(runIdiom(n, load))/n
		want := math.Min(1, 1/load)
		if math.Abs(ours-want) > 0.1 || math.Abs(idiom-want) > 0.06 {
			t.Errorf("load %g: share served %.3f, the idiom's %.3f, want about %.3f", load, ours, idiom, want)
		}
	}
}

func BenchmarkOurs(b *testing.B) {
	b.ReportAllocs()
	if _, err := runOurs(max(100, b.N), 1.3); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkIdiom(b *testing.B) {
	b.ReportAllocs()
	runIdiom(b.N, 1.3)
}
