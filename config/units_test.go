package config

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// A unit reads what is meant, says what is wrong with the rest, and writes what it reads.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		in     string
		to     scalar
		want   float64 // measure, where it is accepted
		failed string  // a part of the message, where it is not
	}{
		{"50ms", new(Duration), 50e6, ""},
		{"1.5s", new(Duration), 1.5e9, ""},
		{"1m30s", new(Duration), 90e9, ""},
		{"0s", new(Duration), 0, ""},
		{"8760h", new(Duration), float64(maxDuration), ""},
		{"8761h", new(Duration), 0, "at most 8760h"},
		{"50", new(Duration), 0, "50 has no unit"},
		{"0", new(Duration), 0, "need a unit"},
		{"+1s", new(Duration), 0, "not a duration"},
		{"-1s", new(Duration), 0, "negative"},
		{"1 s", new(Duration), 0, "not a duration"},
		{"", new(Duration), 0, "not a duration"},
		{"9223372036854775808ns", new(Duration), 0, "too long"},
		{"64MiB", new(Bytes), 64 << 20, ""},
		{"64MB", new(Bytes), 64e6, ""},
		{"0B", new(Bytes), 0, ""},
		{"1PiB", new(Bytes), 1 << 50, ""},
		{"1025TiB", new(Bytes), 0, "at most 1PiB"},
		{"99999999999999999999B", new(Bytes), 0, "at most 1PiB"},
		{"64", new(Bytes), 0, "64 has no unit"},
		{"-1KiB", new(Bytes), 0, "negative"},
		{"1.5MiB", new(Bytes), 0, "not whole"},
		{"MiB", new(Bytes), 0, "not a size"},
		{"NaNMiB", new(Bytes), 0, "not a size"},
		{"10%", new(Percent), 10, ""},
		{"0.5%", new(Percent), 0.5, ""},
		{"100%", new(Percent), 100, ""},
		{"101%", new(Percent), 0, "0% to 100%"},
		{"10", new(Percent), 0, "write 10%"},
		{"NaN%", new(Percent), 0, "not a percentage"},
		{"1e1%", new(Percent), 0, "not a percentage"},
		{"-1%", new(Percent), 0, "not a percentage"},
		{"5%/s", new(Rate), 5, ""},
		{"30%/m", new(Rate), 0.5, ""},
		{"5%/h", new(Rate), 0, "not a rate"},
		{"5/s", new(Rate), 0, "not a rate"},
		{"101%/s", new(Rate), 0, "cannot"},
	} {
		err := yaml.Unmarshal([]byte(c.in), c.to)
		if c.in == "" {
			err = c.to.parse("!!str", "")
		}
		got := c.to.(measured).measure()
		switch {
		case c.failed == "" && (err != nil || got != c.want):
			t.Errorf("%T %q: %v, %v; want %v", c.to, c.in, got, err, c.want)
		case c.failed != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "that can be kept", "cannot"), c.failed)):
			t.Errorf("%T %q: %v; want an error with %q", c.to, c.in, err, c.failed)
		}
	}
}

// What a unit writes it reads back as the same value, through YAML.
func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type all struct {
			D Duration
			B Bytes
			P Percent
			R Rate
		}
		in := all{
			D: Duration(rapid.Int64Range(0, int64(maxDuration)).Draw(t, "d")),
			B: Bytes(rapid.Int64Range(0, maxBytes).Draw(t, "b")),
			P: Percent(rapid.Float64Range(0, 100).Draw(t, "p")),
			R: Rate(rapid.Float64Range(0, 100).Draw(t, "r")),
		}
		text, err := yaml.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out all
		if err := yaml.Unmarshal(text, &out); err != nil || out != in {
			t.Fatalf("%s\nreads as %+v, %v; want %+v", text, out, err, in)
		}
	})
}

func TestAUnitOutsideAFileNamesItsPlace(t *testing.T) {
	var d Duration
	err := yaml.Unmarshal([]byte("\n  [1s]"), &d)
	if err == nil || !strings.Contains(err.Error(), "single value") {
		t.Errorf("got %v", err)
	}
}

func TestUnitsAsNumbers(t *testing.T) {
	if got := Percent(10).Fraction(); got != 0.1 {
		t.Errorf("10%% is %v", got)
	}
	if got := Rate(5).PerSecond(); got != 0.05 {
		t.Errorf("5%%/s is %v", got)
	}
	mix := Service{Mix: []Share{{0.99, Duration(2900 * time.Microsecond)}, {0.01, Duration(1500 * time.Millisecond)}}}
	if got := mix.Mean(); math.Abs(float64(got-17871*time.Microsecond)) > 1 {
		t.Errorf("the lab's lookup holds a slot for %v, not 17.871ms", got)
	}
	if got := (Service{Fixed: Duration(time.Second)}).Mean(); got != time.Second {
		t.Errorf("a constant second is %v", got)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"listen", "latency", "slots", "service", "url"}
	for in, want := range map[string]string{
		"lisen": "listen", "latnecy": "latency", "slot": "slots", "Slots": "slots", "ulr": "url",
		"zzz": "", "": "", "uuuuuuuuuu": "", strings.Repeat("x", 100_000): "",
	} {
		if got := nearest(in, words); got != want {
			t.Errorf("nearest to %.20q is %q, want %q", in, got, want)
		}
	}
}
