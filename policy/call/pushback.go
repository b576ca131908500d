package call

import (
	"strings"
	"time"
)

// PushbackMax is the longest wait that is believed. A server that says more
// means "not now", and whoever waits that long asks again anyhow.
const PushbackMax = 24 * time.Hour

// Pushback is what an answer says about asking again.
type Pushback struct {
	// Asked reports whether it names a wait, and After is that wait, 0 ..
	// PushbackMax, from now.
	Asked bool
	After time.Duration
	// Never: do not ask again. Always: do, whatever the status says.
	Never, Always bool
}

// Outcome returns what an attempt came to that ended so and said this.
func (p Pushback) Outcome(r Result) Outcome {
	return Outcome{Result: r, After: p.After, Never: p.Never, Always: p.Always}
}

// ReadPushback reads what the headers or trailers of an answer say about asking
// again. get returns a header by its name, in the form of http.Header
// (Retry-After-Ms), or "" where there is none; now is the wall time that dates are
// compared with. What cannot be read is ignored, and so is what is negative.
//
// Whether to ask again is in x-should-retry (OpenAI, Anthropic) and
// grpc-retry-pushback-ms, of which anything but a whole number from 0 is a no
// (gRPC A6). When is in the first of these that can be read, in the order of the
// official clients:
//
//	grpc-retry-pushback-ms                    milliseconds
//	retry-after-ms, x-ms-retry-after-ms       milliseconds, may be fractional
//	Retry-After                               seconds, may be fractional; a date
//	x-ratelimit-reset-{requests,tokens}       a duration, 6m0s; seconds
//	anthropic-ratelimit-{...}-reset           a date
//
// Any of them but the first may be a date (RFC 3339, RFC 9110) or a duration with
// units (1m30s, 500ms). A reset says when a limit is full again: it counts if
// nothing is left of it, and of several the latest does. It asks for at most 17
// headers, which takes a microsecond: it is for what has failed.
func ReadPushback(get func(name string) string, now time.Time) Pushback {
	var p Pushback
	switch strings.ToLower(trim(get("X-Should-Retry"))) {
	case "true":
		p.Always = true
	case "false":
		p.Never = true
	}
	if text := trim(get("Grpc-Retry-Pushback-Ms")); text != "" {
		p.After, p.Asked = number(text, time.Millisecond)
		p.Asked = p.Asked && !strings.Contains(text, ".")
		if !p.Asked {
			return Pushback{Never: true}
		}
		return p
	}
	for _, h := range waits {
		if d, ok := asWait(get(h.name), h.unit, now); ok {
			p.After, p.Asked = d, true
			return p
		}
	}
	for _, h := range resets {
		if !exhausted(get(h.remaining)) {
			continue
		}
		if d, ok := asWait(get(h.reset), time.Second, now); ok {
			p.After, p.Asked = max(p.After, d), true
		}
	}
	return p
}

// waits are the headers that name a wait, the one that goes before first, with
// the unit of a bare number.
var waits = [...]struct {
	name string
	unit time.Duration
}{
	{"Retry-After-Ms", time.Millisecond},
	{"X-Ms-Retry-After-Ms", time.Millisecond},
	{"Retry-After", time.Second},
}

// resets are the limits that providers report.
var resets = [...]struct{ remaining, reset string }{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// exhausted reports whether a header says that nothing is left. A negative
// number says that the provider does not know (Azure's -1).
func exhausted(text string) bool {
	d, ok := number(trim(text), time.Second)
	return ok && d == 0
}

// asWait reads a wait in any of the ways it is written, each in full or not at
// all. Dates are read before numbers, so that none is taken for the number that
// it begins with; whether a text is a number is plain from its end.
func asWait(text string, unit time.Duration, now time.Time) (time.Duration, bool) {
	text = trim(text)
	if text == "" || len(text) > waitTextMax {
		return 0, false
	}
	if at, ok := date(text); ok {
		return clampWait(at.Sub(now)), true
	}
	if d, ok := number(text, unit); ok {
		return d, true
	}
	if text[0] < '0' || text[0] > '9' {
		return 0, false // a sign, which ParseDuration would take
	}
	d, err := time.ParseDuration(text)
	return clampWait(d), err == nil
}

// waitTextMax is longer than any date.
const waitTextMax = 64

func clampWait(d time.Duration) time.Duration { return min(max(d, 0), PushbackMax) }

// dates are how a date is written: RFC 3339, and the three forms of RFC 9110,
// 5.6.7. The zone is part of the layout: another's name would mean what the
// machine's own zone makes of it.
var dates = [...]string{
	time.RFC3339,
	"Mon, 02 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
}

func date(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") {
		return time.Time{}, false
	}
	for _, layout := range dates {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// number reads digits, and perhaps a point and more digits, as so many units, at
// most PushbackMax. Signs, exponents, separators and names of numbers are for
// other places.
func number(text string, unit time.Duration) (time.Duration, bool) {
	before, after, point := strings.Cut(text, ".")
	if !digits(before) || point && !digits(after) {
		return 0, false
	}
	var whole time.Duration
	for _, c := range []byte(before) {
		whole = min(whole*10+time.Duration(c-'0'), PushbackMax/unit+1)
	}
	var part time.Duration
	for i, place := 0, unit/10; i < len(after) && place > 0; i, place = i+1, place/10 {
		part += time.Duration(after[i]-'0') * place
	}
	return min(whole*unit+part, PushbackMax), true
}

func digits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// trim cuts off what RFC 9110 allows around a value.
func trim(text string) string { return strings.Trim(text, " \t") }
