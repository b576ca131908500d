package provider_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
)

var now = time.Date(2026, 9, 11, 6, 27, 0, 0, time.UTC)

// Every way in which a service has been seen to write a wait, and some that look like
// one: a date is never the number 2026, and 500ms never 500 s.
func TestWaits(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"0", 0, true}, {"1", s, true}, {"30", 30 * s, true}, {" 7 ", 7 * s, true}, {"0.2", 200 * ms, true}, {"59.56", 59560 * ms, true},
		{"12ms", 12 * ms, true}, {"500ms", 500 * ms, true}, {"1s", s, true}, {"6m0s", 6 * time.Minute, true}, {"2m59.56s", 179560 * ms, true},
		{"23h47m36.648s", 23*time.Hour + 47*time.Minute + 36648*ms, true}, {"1h", time.Hour, true}, {"1d", provider.WaitMost, true}, {"0d2h", 2 * time.Hour, true}, {"1d2h3m", provider.WaitMost, true},
		{"2026-09-11T06:27:29Z", 29 * s, true}, {"2026-09-11T06:27:29.5Z", 29500 * ms, true}, {"2026-09-11T08:27:29+02:00", 29 * s, true},
		{"2026-09-11T06:26:00Z", 0, true}, {"Fri, 11 Sep 2026 06:27:10 GMT", 10 * s, true}, {"Friday, 11-Sep-26 06:27:10 GMT", 10 * s, true}, {"Fri, 11 Sep 2020 06:27:10 GMT", 0, true},
		{"1789108040", 20 * s, true}, {"1789000000", 0, true}, {"86400", provider.WaitMost, true}, {"198300", provider.WaitMost, true}, {"2099-01-01T00:00:00Z", provider.WaitMost, true},
		{"", 0, false}, {"-1", 0, false}, {"-5s", 0, false}, {"1h-5s", 0, false}, {"+5", 0, false}, {"NaN", 0, false}, {"Inf", 0, false}, {"1e3", 0, false}, {"0x10", 0, false}, {"5 s", 0, false},
		{"soon", 0, false}, {"1,5", 0, false}, {"1.2.3", 0, false}, {"5s5", 0, false}, {"d", 0, false}, {"1.5d", 0, false}, {"d5s", 0, false}, {"2026", 2026 * s, true}, {"99999999999999999999999999999", provider.WaitMost, true},
		{"2026-13-41T00:00:00Z", 0, false}, {"2026-09-11", 0, false},
	} {
		got, ok := provider.Wait(c.text, now)
		if ok != c.ok || (got-c.want).Abs() > time.Microsecond {
			t.Errorf("%q: %v %v, want %v %v", c.text, got, ok, c.want, c.ok)
		}
	}
	for text, want := range map[string]time.Duration{"250": 250 * ms, "0.5": 500 * time.Microsecond, "-1": -1, "x": -1, "": -1, "1e9": -1} {
		if got, ok := provider.Millis(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q ms: %v %v", text, got, ok)
		}
	}
}

func TestWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		limit, left, reset string
		want               provider.Left
	}{
		{"60", "12", "6m0s", provider.Left{Said: true, Limit: 60, Left: 12, Full: 6 * time.Minute}},
		{"", "12", "", provider.Left{Said: true, Left: 12}},
		{"60", "0", "2026-09-11T06:27:29Z", provider.Left{Said: true, Limit: 60, Full: 29 * time.Second}},
		{"60", "-1", "1s", provider.Left{}},
		{"60", "", "1s", provider.Left{}},
		{"60", "1.5", "1s", provider.Left{}},
		{"-60", "1", "soon", provider.Left{Said: true, Left: 1}},
	} {
		if got := provider.Limits(c.limit, c.left, c.reset, now); got != c.want {
			t.Errorf("%q %q %q: %+v, want %+v", c.limit, c.left, c.reset, got, c.want)
		}
	}
}

func TestPrices(t *testing.T) {
	for _, c := range []struct {
		price         provider.Price
		input, output int64
		want          int64
	}{
		{provider.Price{Input: 2_500_000, Output: 10_000_000}, 1000, 100, 3500},
		{provider.Price{Input: 1}, 1, 0, 1}, // rounded up
		{provider.Price{}, 1000, 1000, 0},
		{provider.Price{Input: 1 << 62, Output: 1 << 62}, 1 << 62, 1 << 62, quota.MostMax},
		{provider.Price{Input: 5}, -7, -7, 0},
	} {
		if got := c.price.Amounts(c.input, c.output)[quota.Money]; got != c.want {
			t.Errorf("%+v of %d and %d: %d, want %d", c.price, c.input, c.output, got, c.want)
		}
	}
}

func FuzzWait(f *testing.F) {
	for _, s := range []string{"1d2h", "6m0s", "2026-09-11T06:27:29Z", "-1", "9e99", "1789108040", "Fri, 11 Sep 2026 06:27:10 GMT"} {
		f.Add(s, "12", "60")
	}
	f.Fuzz(func(t *testing.T, text, left, limit string) {
		for _, read := range []func(string) (time.Duration, bool){provider.Millis, func(s string) (time.Duration, bool) { return provider.Wait(s, now) }} {
			if d, ok := read(text); d < 0 || d > provider.WaitMost || !ok && d != 0 {
				t.Fatalf("%q: %v %v", text, d, ok)
			}
		}
		if l := provider.Limits(limit, left, text, now); l.Left < 0 || l.Limit < 0 || l.Full < 0 || l.Full > provider.WaitMost {
			t.Fatalf("%+v", l)
		}
	})
}
