package load_test

import (
	"context"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/load"
)

// pace runs Pace on a goroutine that ends.
func pace(ctx context.Context, start time.Time, schedule []time.Duration, fire func(i int)) bool {
	end := make(chan bool)
	go func() { end <- load.Pace(ctx, start, schedule, fire) }()
	return <-end
}

func TestPaceFiresEachInstantInOrderAndNeverEarly(t *testing.T) {
	start, next := time.Now(), 0
	schedule := []time.Duration{-time.Second, 0, time.Millisecond, time.Millisecond, 70 * time.Millisecond}
	if !pace(t.Context(), start, schedule, func(i int) {
		if i != next || time.Since(start) < schedule[i] {
			t.Errorf("instant %d after %v; instant %d of %v is next", i, time.Since(start), next, schedule[next])
		}
		next++
	}) || next != len(schedule) {
		t.Errorf("%d of %d fired", next, len(schedule))
	}
}

func TestPaceEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	fired := 0
	if pace(ctx, time.Now(), []time.Duration{0, time.Hour}, func(int) { fired++; stop() }) || fired != 1 {
		t.Errorf("%d fired, and it got to the end", fired)
	}
}
