package load

import (
	"testing"
	"time"
)

func TestWhenAnAnswerAsksToComeBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ms, after string
		want      time.Duration
		asked     bool
	}{
		{"", "", 0, false},
		{"", "3", 3 * time.Second, true},
		{"", "0", 0, true},
		{"2500", "3", 2500 * time.Millisecond, true},
		{"soon", "3", 3 * time.Second, true},
		{"", "-1", 0, false},
		{"", "Sun, 01 Mar 2026 12:00:05 GMT", 5 * time.Second, true},
	} {
		r := response{retryAfterMs: []byte(c.ms), retryAfter: []byte(c.after)}
		if got, asked := r.wait(now); got != c.want || asked != c.asked {
			t.Errorf("retry-after-ms %q, Retry-After %q: %v, %v; want %v, %v", c.ms, c.after, got, asked, c.want, c.asked)
		}
	}
}
