package load

import (
	"testing"
	"time"
)

func TestRetryWait(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ms, after string
		want      time.Duration
		asked     bool
	}{
		{"", "", 0, false},
		{"", "3", 3 * time.Second, true},
		{"", " 3 ", 3 * time.Second, true},
		{"", "0", 0, true},
		{"", "1.5", 1500 * time.Millisecond, true},
		{"2500", "3", 2500 * time.Millisecond, true},
		{"0.5", "", 500 * time.Microsecond, true},
		{"soon", "3", 3 * time.Second, true},
		{"-1", "3", 3 * time.Second, true},
		{"", "-1", 0, false},
		{"", "NaN", 0, false},
		{"", "Inf", 0, false},
		{"", "1e9", 0, false},
		{"", "500ms", 0, false},
		{"", "soon", 0, false},
		{"", "86400", 24 * time.Hour, true},
		{"", "86401", 0, false},
		{"", "Sun, 01 Mar 2026 12:00:05 GMT", 5 * time.Second, true},
		{"", "Sunday, 01-Mar-26 12:00:05 GMT", 5 * time.Second, true},
		{"", "Sun Mar  1 12:00:05 2026", 5 * time.Second, true},
		{"", "Sun, 01 Mar 2026 11:00:00 GMT", 0, true},
		{"", "Sun, 01 Mar 2037 12:00:00 GMT", 0, false},
	} {
		got, asked := retryWait(c.ms, c.after, now)
		if got != c.want || asked != c.asked {
			t.Errorf("retry-after-ms %q, Retry-After %q: %v, %v; want %v, %v", c.ms, c.after, got, asked, c.want, c.asked)
		}
	}
}

func FuzzRetryWait(f *testing.F) {
	f.Add("2500", "3")
	f.Add("", "Sun, 01 Mar 2026 12:00:05 GMT")
	f.Add("0x1p-2", "1_000")
	f.Fuzz(func(t *testing.T, ms, after string) {
		if d, asked := retryWait(ms, after, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)); d < 0 || asked && d > maxWait {
			t.Fatalf("%v, %v", d, asked)
		}
	})
}
