package gateway

import "testing"

// What a burst leaves behind is bounded, and gone after close: the package's
// tests end with no goroutine left.
func TestRunnersAreUsedAgainAndBounded(t *testing.T) {
	var p runners
	first := p.get()
	second := p.get()
	if first == second {
		t.Fatal("two calls at once have the same runner")
	}
	p.put(first)
	p.put(second)
	if p.get() != second {
		t.Error("it is not the last one parked that is taken")
	}
	p.put(second)
	burst := make([]*runner, runnersIdle+3)
	for i := range burst {
		burst[i] = p.get()
	}
	for _, r := range burst {
		p.put(r)
	}
	if n := len(p.idle); n != runnersIdle {
		t.Errorf("%d are parked, want %d", n, runnersIdle)
	}
	late := p.get()
	p.close()
	p.put(late)
	if n := len(p.idle); n != 0 {
		t.Errorf("%d are parked after close", n)
	}
}
