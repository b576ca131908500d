package config

import (
	"strings"
	"testing"
)

const overriddenFile = `version: 1
upstreams: { app: { url: "http://h", slots: 48 } }
classes:
  checkout: { match: { path: "/checkout/*" }, slots: { min: 4 }, budget: { latency: 300ms, service: 100ms }, deadline: 1s, max_deadline: 2s }
  rest: { slots: 8 }
`

func TestKeysOfAClassCanBeOverridden(t *testing.T) {
	file := strings.Replace(overriddenFile, "{ min: 4 }", "40", 1)
	c, err := Parse("x", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		class string
		keys  map[string]string
		want  string // of the class, or of the error
		fails bool
	}{
		{"checkout", map[string]string{"slots": "20"}, "slots: 20", false},
		{"checkout", map[string]string{"borrow": "4", "budget.latency": "200ms"}, "latency: 200ms", false},
		{"rest", map[string]string{"memory.limit": "1MiB", "deadline": "5s"}, "limit: 1MiB", false},
		{"rest", map[string]string{"call.timeout": "250ms"}, "timeout: 250ms", false},

		{"rset", map[string]string{"slots": "20"}, `there is no class "rset"; there are checkout, rest`, true},
		{"rest", nil, "say what is to be overridden", true},
		{"rest", map[string]string{"upstream": "other"}, `"upstream" cannot be overridden; write one of slots`, true},
		{"rest", map[string]string{"slot": "20"}, `did you mean slots?`, true},
		{"rest", map[string]string{"slots": "-1"}, `classes.rest.slots is -1; give 1 to 1000000`, true},
		{"rest", map[string]string{"slots": "0"}, `slots: is 0; give more`, true},
		{"rest", map[string]string{"slots": "many"}, `slots: "many" is not a number`, true},
		{"rest", map[string]string{"slots": ""}, `slots: "" is not a number`, true},
		{"rest", map[string]string{"deadline": "5"}, `deadline: 5 has no unit`, true},
		{"checkout", map[string]string{"budget.latency": "50ms"}, "make latency longer than service", true},
		{"checkout", map[string]string{"deadline": "3s"}, "above max_deadline 2s", true},
	} {
		got, err := c.With(tt.class, tt.keys)
		if tt.fails {
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %v: %v; want %q", tt.class, tt.keys, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", tt.class, tt.keys, err)
			continue
		}
		changes := ""
		for _, d := range Diff(c, got) {
			changes += d.String() + "\n"
		}
		_, value, _ := strings.Cut(tt.want, ": ")
		if !strings.Contains(changes, "classes."+tt.class) || !strings.Contains(changes, "-> "+value) {
			t.Errorf("%s %v changes:\n%s", tt.class, tt.keys, changes)
		}
	}
	if again, _ := Parse("x", []byte(file)); len(Diff(c, again)) != 0 {
		t.Error("the configuration itself was changed")
	}
}

func FuzzWith(f *testing.F) {
	c, err := Parse("x", []byte(strings.Replace(overriddenFile, "{ min: 4 }", "40", 1)))
	if err != nil {
		f.Fatal(err)
	}
	for i, text := range []string{"20", "-1", "200ms", "1MiB", "shadow", "10%", "", "0x10", "9999999999999999999"} {
		f.Add("rest", overridable[i%len(overridable)], text)
	}
	f.Fuzz(func(t *testing.T, class, key, text string) {
		got, err := c.With(class, map[string]string{key: text})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q", err)
			}
			return
		}
		if err := got.WithDefaults().Validate(); err != nil {
			t.Fatalf("%s %s=%q is accepted and not valid: %v", class, key, text, err)
		}
	})
}
