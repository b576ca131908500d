package propose

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// However many calls a recording has, its beginning and its end are in the sample
// alike: every k-th call, from the first to the last.
func TestTheSampleIsOfTheWholeRecording(t *testing.T) {
	const calls = 5*samples + 3
	m := new(measured)
	for i := range calls {
		m.take(&workload.Arrival{At: time.Duration(i) * time.Second, Service: time.Duration(i) + 1})
	}
	const k = 8 // 5 times as many as are kept: the next power of two
	if want := (calls + k - 1) / k; len(m.times) != want {
		t.Errorf("%d are kept, want %d", len(m.times), want)
	}
	for i, at := range m.times {
		if want := time.Duration(i*k) + 1; at != want {
			t.Fatalf("the sample's entry %d is of call %d, want %d", i, at-1, want-1)
		}
	}
	if m.timed != calls {
		t.Errorf("%d were timed, want %d", m.timed, calls)
	}
}
