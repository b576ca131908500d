package call

import (
	"net/http"
	"testing"
	"time"
)

var wall = time.Date(2026, 9, 11, 6, 0, 0, 0, time.UTC)

// How each text is read in each place: as bare milliseconds, as bare seconds, as
// a reset that is in force, and as gRPC's. "-" is not at all; "no" is "never".
func TestWaitsAsTheyAreWritten(t *testing.T) {
	const none, no = -1, -2
	for _, c := range []struct {
		text               string
		ms, s, reset, grpc time.Duration
	}{
		// Whole numbers are in the unit of the header.
		{"0", 0, 0, 0, 0},
		{"1", ms, time.Second, time.Second, ms},
		{"30", 30 * ms, 30 * time.Second, 30 * time.Second, 30 * ms},
		{"007", 7 * ms, 7 * time.Second, 7 * time.Second, 7 * ms},
		{" 30\t", 30 * ms, 30 * time.Second, 30 * time.Second, 30 * ms},
		{"2026", 2026 * ms, 2026 * time.Second, 2026 * time.Second, 2026 * ms},
		{"86400", 86400 * ms, 24 * time.Hour, 24 * time.Hour, 86400 * ms},
		// More than is believed is as much as is believed.
		{"86401", 86401 * ms, PushbackMax, PushbackMax, 86401 * ms},
		{"86400001", PushbackMax, PushbackMax, PushbackMax, PushbackMax},
		{"99999999999999999999999999", PushbackMax, PushbackMax, PushbackMax, PushbackMax},
		// Fractions.
		{"1.5", 1500 * time.Microsecond, 1500 * ms, 1500 * ms, no},
		{"0.25", 250 * time.Microsecond, 250 * ms, 250 * ms, no},
		{"0.0000000001", 0, 0, 0, no},
		{"2.99999999999999999", 2999999, 2999999999, 2999999999, no},
		// Durations say their unit themselves.
		{"12ms", 12 * ms, 12 * ms, 12 * ms, no},
		{"500ms", 500 * ms, 500 * ms, 500 * ms, no},
		{"1s", time.Second, time.Second, time.Second, no},
		{"6m0s", 6 * time.Minute, 6 * time.Minute, 6 * time.Minute, no},
		{"2m59.56s", 179560 * ms, 179560 * ms, 179560 * ms, no},
		{"23h47m36.648s", 85656648 * ms, 85656648 * ms, 85656648 * ms, no},
		{"48h", PushbackMax, PushbackMax, PushbackMax, no},
		// Dates are not the number that they begin with.
		{"2026-09-11T06:27:29Z", 1649 * time.Second, 1649 * time.Second, 1649 * time.Second, no},
		{"2026-09-11T08:00:05.5+02:00", 5500 * ms, 5500 * ms, 5500 * ms, no},
		{"2026-09-11T05:00:00Z", 0, 0, 0, no},
		{"2036-09-11T05:00:00Z", PushbackMax, PushbackMax, PushbackMax, no},
		{"Fri, 11 Sep 2026 06:00:07 GMT", 7 * time.Second, 7 * time.Second, 7 * time.Second, no},
		{"Friday, 11-Sep-26 06:00:07 GMT", 7 * time.Second, 7 * time.Second, 7 * time.Second, no},
		{"Fri Sep 11 06:00:07 2026", 7 * time.Second, 7 * time.Second, 7 * time.Second, no},
		{"Thu, 01 Jan 1970 00:00:00 GMT", 0, 0, 0, no},
		{"9999-12-31T23:59:59Z", PushbackMax, PushbackMax, PushbackMax, no},
		// Nonsense.
		{"", none, none, none, none},
		{"soon", none, none, none, no},
		{"-1", none, none, none, no},
		{"-0", none, none, none, no},
		{"+1", none, none, none, no},
		{"-5s", none, none, none, no},
		{"NaN", none, none, none, no},
		{"Inf", none, none, none, no},
		{"1e9", none, none, none, no},
		{"0x10", none, none, none, no},
		{"1_000", none, none, none, no},
		{"1,000", none, none, none, no},
		{"1.", none, none, none, no},
		{".5", none, none, none, no},
		{"1.2.3", none, none, none, no},
		{"5 s", none, none, none, no},
		{"5 6", none, none, none, no},
		{"3, 5", none, none, none, no},
		{"5S", none, none, none, no},
		{"5d", none, none, none, no},
		{"9999999999h", none, none, none, no},
		{"２", none, none, none, no},
		{"2026-09-11", none, none, none, no},
		{"2026-09-11T06:27:29", none, none, none, no},
		{"2026-13-11T06:27:29Z", none, none, none, no},
		{"Fri, 11 Sep 2026 06:00:07 CEST", none, none, none, no},
		{"Fri, 11 Sep 2026 06:00:07 GMT, 5", none, none, none, no},
	} {
		for header, want := range map[string]time.Duration{
			"Retry-After-Ms":                   c.ms,
			"X-Ms-Retry-After-Ms":              c.ms,
			"Retry-After":                      c.s,
			"X-Ratelimit-Reset-Requests":       c.reset,
			"Anthropic-Ratelimit-Tokens-Reset": c.reset,
			"Grpc-Retry-Pushback-Ms":           c.grpc,
		} {
			h := http.Header{
				"X-Ratelimit-Remaining-Requests": {"0"}, "Anthropic-Ratelimit-Tokens-Remaining": {"0"},
				header: {c.text},
			}
			p := ReadPushback(h.Get, wall)
			got := p.After
			switch {
			case p.Never:
				got = no
			case !p.Asked:
				got = none
			}
			if got != want {
				t.Errorf("%s: %q: %v, want %v", header, c.text, got, want)
			}
		}
	}
}

func TestWhichOfSeveralHeadersIsObeyed(t *testing.T) {
	for _, c := range []struct {
		name string
		h    map[string]string
		want Pushback
	}{
		{"nothing", nil, Pushback{}},
		{"the finer one, as official clients read them",
			map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, Pushback{Asked: true, After: 1500 * ms}},
		{"the other if that cannot be read",
			map[string]string{"Retry-After-Ms": "soon", "X-Ms-Retry-After-Ms": "-3", "Retry-After": "9"}, Pushback{Asked: true, After: 9 * time.Second}},
		{"a wait before a reset, which is when the limit is full again",
			map[string]string{"Retry-After": "2", "X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s"},
			Pushback{Asked: true, After: 2 * time.Second}},
		{"the reset of what is used up, not of what is not",
			map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "12ms",
				"X-Ratelimit-Remaining-Tokens": "5", "X-Ratelimit-Reset-Tokens": "6m0s"}, Pushback{Asked: true, After: 12 * ms}},
		{"the later of two that are used up",
			map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1s",
				"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s"}, Pushback{Asked: true, After: 6 * time.Minute}},
		{"of four at Anthropic",
			map[string]string{"Anthropic-Ratelimit-Requests-Remaining": "49", "Anthropic-Ratelimit-Requests-Reset": "2026-09-11T07:00:00Z",
				"Anthropic-Ratelimit-Input-Tokens-Remaining": "0", "Anthropic-Ratelimit-Input-Tokens-Reset": "2026-09-11T06:00:20Z",
				"Anthropic-Ratelimit-Output-Tokens-Remaining": "0", "Anthropic-Ratelimit-Output-Tokens-Reset": "2026-09-11T06:00:10Z"},
			Pushback{Asked: true, After: 20 * time.Second}},
		{"a reset of which nobody says what is left, or only that it is not known",
			map[string]string{"X-Ratelimit-Reset-Requests": "1s",
				"X-Ratelimit-Remaining-Tokens": "-1", "X-Ratelimit-Reset-Tokens": "6m0s"}, Pushback{}},
		{"no", map[string]string{"X-Should-Retry": "false", "Retry-After": "9"}, Pushback{Never: true, Asked: true, After: 9 * time.Second}},
		{"yes", map[string]string{"X-Should-Retry": " TRUE "}, Pushback{Always: true}},
		{"perhaps", map[string]string{"X-Should-Retry": "maybe"}, Pushback{}},
		{"gRPC's wait before all others", map[string]string{"Grpc-Retry-Pushback-Ms": "20", "Retry-After": "9"}, Pushback{Asked: true, After: 20 * ms}},
		{"gRPC's no before a yes", map[string]string{"Grpc-Retry-Pushback-Ms": "-1", "X-Should-Retry": "true", "Retry-After": "9"}, Pushback{Never: true}},
	} {
		if got := ReadPushback(func(name string) string { return c.h[name] }, wall); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	o := Pushback{Asked: true, After: time.Second, Always: true}.Outcome(Refused)
	if o != (Outcome{Result: Refused, After: time.Second, Always: true}) {
		t.Errorf("as an outcome: %+v", o)
	}
}

// The three forms of an HTTP date are read as net/http reads them.
func TestDatesAreReadAsTheStandardLibraryReadsThem(t *testing.T) {
	for i := range 1000 {
		when := wall.Add(time.Duration(i) * 77777 * time.Second)
		for _, layout := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
			text := when.Format(layout)
			want, err := http.ParseTime(text)
			if got, ok := date(text); err != nil || !ok || !got.Equal(want) {
				t.Fatalf("%q: %v, want %v", text, got, want)
			}
		}
	}
}

func FuzzPushback(f *testing.F) {
	for _, text := range []string{"", "0", "3", "1.5", "-1", "2m59.56s", "500ms", "2026-09-11T06:27:29Z", "1e9", "0x1p-2", "1_000",
		"Fri, 11 Sep 2026 06:00:07 GMT", "Friday, 11-Sep-26 06:00:07 GMT", "Fri Sep 11 06:00:07 2026", "99999999999999999999", "true", "false"} {
		f.Add(text, "0", 1)
	}
	names := []string{"X-Should-Retry", "Grpc-Retry-Pushback-Ms", "Retry-After-Ms", "X-Ms-Retry-After-Ms", "Retry-After",
		"X-Ratelimit-Reset-Requests", "Anthropic-Ratelimit-Tokens-Reset"}
	f.Fuzz(func(t *testing.T, text, remaining string, which int) {
		name := names[uint(which)%uint(len(names))]
		p := ReadPushback(func(n string) string {
			switch n {
			case name:
				return text
			case "X-Ratelimit-Remaining-Requests", "Anthropic-Ratelimit-Tokens-Remaining":
				return remaining
			}
			return ""
		}, wall)
		if p.After < 0 || p.After > PushbackMax || !p.Asked && p.After != 0 || p.Never && p.Always {
			t.Fatalf("%s: %q: %+v", name, text, p)
		}
	})
}
