package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scalar is a type with its own way of being written as one YAML word. A struct
// that is a scalar may be written either way: `slots: 40` or `slots: {min: 4}`.
// Methods that read are on the value, parse on its pointer.
type scalar interface {
	parse(tag, text string) error // tag is YAML's short tag: "!!str", "!!int", ...
}

type written interface {
	format() string         // what parse reads back as the same value
	schema() map[string]any // JSON Schema of the scalar form
	kind() string           // for the reference page: "duration"
}

// measured is a scalar with a size, to be held against min, max and large.
type measured interface{ measure() float64 }

// Duration is a length of time, written with a unit: "50ms", "1.5s", "2h". Never
// negative; at most a year.
type Duration time.Duration

// maxDuration is a year: longer than any wait that a request could mean, and far
// enough from overflow that sums of several stay exact.
const maxDuration = 365 * 24 * time.Hour

const durationUnits = "durations need a unit: ns, us, ms, s, m or h"

// D is the duration as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String is the shortest form that parses back: "50ms", "1m30s", "24h".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalYAML writes the form of String.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// UnmarshalYAML reads "50ms"; a number without unit is an error.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error { return unmarshalScalar(n, d) }

// durationForm is what ParseDuration reads, less signs and the bare 0.
const durationForm = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

var durationRE = regexp.MustCompile(durationForm)

func (d *Duration) parse(tag, text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case allDigits(text) && tag != "!!str":
		return bad(durationUnits+" (for example "+text+"ms or "+text+"s)", "%s has no unit", text)
	case tag == "!!int" || tag == "!!float":
		return bad(durationUnits+", as in 50ms", "%s has no unit", text)
	case durationRE.MatchString(strings.TrimPrefix(text, "-")) && text[0] == '-':
		return bad("write how long, from 0s up", "%s is negative", quote(text))
	case tag != "!!str" || !durationRE.MatchString(text):
		return bad(durationUnits+", as in 50ms", "%s is not a duration", quote(text))
	case err != nil || v > maxDuration: // overflow is the one error left
		return bad("give at most 8760h (a year)", "%s is too long", quote(text))
	}
	*d = Duration(v)
	return nil
}

func (d Duration) format() string { return d.String() }
func (Duration) kind() string     { return "duration" }
func (d Duration) measure() float64 {
	return float64(d)
}
func (Duration) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": durationForm,
		"examples": []any{"50ms", "1.5s"}}
}

// Bytes is a size, written with a unit: "64MiB" (1024s) or "64MB" (1000s). Whole
// and never negative; at most 1 PiB.
type Bytes int64

const maxBytes = 1 << 50

var byteUnits = []struct {
	name string
	size int64
}{
	{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
}

// String is the size in the largest binary unit that holds it exactly: "64MiB".
func (b Bytes) String() string {
	for _, u := range byteUnits[:5] {
		if b != 0 && int64(b)%u.size == 0 {
			return strconv.FormatInt(int64(b)/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalYAML writes the form of String.
func (b Bytes) MarshalYAML() (any, error) { return b.String(), nil }

// UnmarshalYAML reads "64MiB"; a number without unit is an error.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) error { return unmarshalScalar(n, b) }

func (b *Bytes) parse(tag, text string) error {
	const units = "sizes need a unit: B, KiB, MiB or GiB"
	if tag == "!!int" || tag == "!!float" {
		return bad(units+" (for example "+text+"MiB)", "%s has no unit", text)
	}
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		_, fraction := plainFloat(digits)
		switch {
		case strings.HasPrefix(digits, "-"):
			return bad("write how much, from 0B up", "%s is negative", quote(text))
		case fraction == nil && strings.Contains(digits, "."):
			return bad("write a whole number in a smaller unit", "%s is not whole", quote(text))
		case !allDigits(digits):
			return bad(units+", as in 64MiB", "%s is not a size", quote(text))
		case err != nil || v > maxBytes/u.size:
			return bad("give at most 1PiB", "%s is too large", quote(text))
		}
		*b = Bytes(v * u.size)
		return nil
	}
	return bad(units+", as in 64MiB", "%s is not a size", quote(text))
}

func (b Bytes) format() string { return b.String() }
func (Bytes) kind() string     { return "size" }
func (b Bytes) measure() float64 {
	return float64(b)
}
func (Bytes) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[0-9]+([KMGTP]i?B|kB|B)$`, "examples": []any{"64MiB"}}
}

// Percent is a share in percent points: "10%" is Percent(10). From 0 to 100.
type Percent float64

// Fraction is the share from 0 to 1.
func (p Percent) Fraction() float64 { return float64(p) / 100 }

// String is the share with its sign: "10%", "0.5%".
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%" }

// MarshalYAML writes the form of String.
func (p Percent) MarshalYAML() (any, error) { return p.String(), nil }

// UnmarshalYAML reads "10%"; a bare number is an error.
func (p *Percent) UnmarshalYAML(n *yaml.Node) error { return unmarshalScalar(n, p) }

func (p *Percent) parse(tag, text string) error {
	digits, ok := strings.CutSuffix(text, "%")
	if !ok {
		if tag == "!!int" || tag == "!!float" {
			return bad("write "+text+"% if percent are meant", "%s has no percent sign", text)
		}
		return bad("write a share such as 10%", "%s is not a percentage", quote(text))
	}
	v, err := plainFloat(digits)
	switch {
	case err != nil:
		return bad("write a share such as 10%", "%s is not a percentage", quote(text))
	case v < 0 || v > 100:
		return bad("give 0% to 100%", "%s is not a share", quote(text))
	}
	*p = Percent(v)
	return nil
}

func (p Percent) format() string { return p.String() }
func (Percent) kind() string     { return "percent" }
func (p Percent) measure() float64 {
	return float64(p)
}
func (Percent) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%$`, "examples": []any{"10%"}}
}

// Rate is a share a second, in percent points: "5%/s" is Rate(5). Also "%/m".
type Rate float64

// PerSecond is the change a second as a fraction, 5%/s being 0.05.
func (r Rate) PerSecond() float64 { return float64(r) / 100 }

// String is the rate a second: "5%/s".
func (r Rate) String() string { return strconv.FormatFloat(float64(r), 'f', -1, 64) + "%/s" }

// MarshalYAML writes the form of String.
func (r Rate) MarshalYAML() (any, error) { return r.String(), nil }

// UnmarshalYAML reads "5%/s" or "5%/m"; anything else is an error.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error { return unmarshalScalar(n, r) }

func (r *Rate) parse(_, text string) error {
	share, unit, _ := strings.Cut(text, "/")
	per := map[string]float64{"s": 1, "m": 60}[unit]
	digits, signed := strings.CutSuffix(share, "%")
	v, err := plainFloat(digits)
	switch {
	case err != nil || !signed || per == 0:
		return bad("write a share a second, as in 5%/s (or a minute, 5%/m)", "%s is not a rate", quote(text))
	case v < 0 || v > 100*per:
		return bad("give 0%/s to 100%/s", "%s is not a rate that can be kept", quote(text))
	}
	*r = Rate(v / per)
	return nil
}

func (r Rate) format() string { return r.String() }
func (Rate) kind() string     { return "rate" }
func (r Rate) measure() float64 {
	return float64(r)
}
func (Rate) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%/[sm]$`, "examples": []any{"5%/s"}}
}

// unmarshalScalar lets a unit be read by the YAML library on its own.
func unmarshalScalar(n *yaml.Node, to scalar) error {
	if n.Kind != yaml.ScalarNode {
		return &Error{Line: n.Line, Column: n.Column, What: "a single value is needed here", Fix: "write it on one line"}
	}
	if err := to.parse(n.ShortTag(), n.Value); err != nil {
		p := err.(*problem)
		return &Error{Line: n.Line, Column: n.Column, What: p.what, Fix: p.fix}
	}
	return nil
}

// plainFloat reads digits with at most one point. Exponents, signs, NaN, hex and
// underscores are refused: nobody writes a share that way on purpose.
func plainFloat(s string) (float64, error) {
	whole, part, point := strings.Cut(s, ".")
	if !allDigits(whole) || point && !allDigits(part) {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsInf(v, 0) {
		err = strconv.ErrRange
	}
	return v, err
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
