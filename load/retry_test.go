package load_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
)

func TestRetryAfterIsHonouredWhenAsked(t *testing.T) {
	var calls atomic.Int64
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		switch n := r.URL.Query().Get("n"); {
		case n == "0": // never any room
			w.Header().Set("Retry-After-Ms", "10")
			w.WriteHeader(503)
		case n == "1": // told not to
			w.Header().Set("Retry-After-Ms", "10")
			w.Header().Set("X-Should-Retry", "false")
			w.WriteHeader(503)
		case n == "2": // later than its caller waits
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		case n == "3": // not a refusal
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(500)
		}
	})
	for _, c := range []struct {
		honour   bool
		attempts int64
	}{{false, 5}, {true, 7}} {
		calls.Store(0)
		source, names := schedule("50", 100*time.Millisecond)
		r, d := run(t, load.Config{URL: target.URL + "?n={{.N}}", Source: source, Names: names, HonourRetryAfter: c.honour})
		if r.Attempts != c.attempts || calls.Load() != c.attempts || d.Offered != 5 || d.Reasons["served"] != 1 || d.Reasons["failed"] != 3 || d.Reasons["rate_limited"] != 1 {
			t.Errorf("honour %v: %d attempts, %d calls, %v", c.honour, r.Attempts, calls.Load(), d.Reasons)
		}
	}
}

func TestStoppingBreaksWhatIsOnTheWay(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var arrived atomic.Int64
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == 20 {
			stop()
		}
		<-r.Context().Done()
	})
	source, names := schedule("200", time.Hour)
	r, err := load.Run(ctx, load.Config{URL: target.URL, Source: source, Names: names})
	d := r.Collector.Report(report.About{Seconds: 1})
	if err != nil || !r.Stopped || d.Reasons["caller_gone"] != d.Offered || d.Offered < 20 || d.Waiting+d.Running != 0 {
		t.Errorf("%v, %+v, %v", err, r.Figures, d.Reasons)
	}
}

func TestStoppingDoesNotWaitForRetries(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var arrived atomic.Int64
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(503)
		if arrived.Add(1) == 10 {
			time.AfterFunc(20*time.Millisecond, stop)
		}
	})
	source, names := schedule("200", 50*time.Millisecond)
	r, err := load.Run(ctx, load.Config{URL: target.URL, Source: source, Names: names, HonourRetryAfter: true})
	d := r.Collector.Report(report.About{Seconds: 1})
	if err != nil || d.Reasons["failed"] != 10 || r.Elapsed > 10*time.Second {
		t.Errorf("%v after %v, %v", err, r.Elapsed, d.Reasons)
	}
}
