package assemble

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
)

// A class sheds where it has a ladder or says how, and not where it says off.
func TestWhichClassesShed(t *testing.T) {
	cache := "ladder: [ { cache: { ttl: 60s } } ]"
	for _, c := range []struct {
		class string
		want  bool
	}{
		{"", false},
		{cache, true},
		{cache + "\n    shed: off", false},
		{cache + "\n    shed: { release: 5%/s }", true},
		{"shed: { release: 5%/s }", true},
		{"shed: off", false},
	} {
		text := "upstreams: { app: { url: \"http://127.0.0.1:9001\" } }\nclasses:\n  a:\n    upstream: app\n    session: { key: \"cookie:sid\", span: 7s }\n    " + c.class + "\n"
		cfg, err := config.Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rule := Resources(cfg)[0].Machine.Classes[0].Shed
		if (rule != nil) != c.want {
			t.Errorf("%q: sheds %v, want %v", c.class, rule != nil, c.want)
		}
		if rule != nil && (rule.Span != 7*time.Second || rule.Validate() != nil || rule.Release != 50_000 && rule.Release != 100_000 || rule.Hysteresis != 10_000) {
			t.Errorf("%q: %+v", c.class, *rule)
		}
	}
}
