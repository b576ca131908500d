package assemble_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
)

// question is a request of which only this is known.
type question struct{ path, q, key string }

func (question) Method() string                     { return "GET" }
func (question) Host() string                       { return "h" }
func (a question) Path() string                     { return a.path }
func (a question) Query(name string) (string, bool) { return a.q, name == "q" }
func (question) Header(string) (string, bool)       { return "", false }
func (question) Size() int64                        { return -1 }
func (question) Class() string                      { return "c" }
func (question) Tenant() string                     { return "acme" }
func (question) Session() string                    { return "" }
func (a question) Text(k config.Key) string         { return k.String() + "=" + a.key }

func TestEachWayToSayAGap(t *testing.T) {
	for _, c := range []struct {
		say   string
		gap   string
		asked question
		want  shed.Gap
		found assemble.Found
	}{
		{"nothing", `{}`, question{}, 0, assemble.Well},
		{"a figure", `{ value: 0.25 }`, question{}, 250_000, assemble.Well},
		{"an expression", `{ expr: "size(query.q) >= 4 ? 0.1 : 0.9" }`, question{q: "lamps"}, 100_000, assemble.Well},
		{"outside, above", `{ expr: "size(query.q)" }`, question{q: "lamps"}, shed.Useless, assemble.Outside},
		{"outside, below", `{ expr: "0 - size(query.q)" }`, question{q: "lamps"}, 0, assemble.Outside},
		{"no number", `{ expr: "0.0 / double(size(query.q))" }`, question{}, shed.Useless, assemble.Outside},
		{"one that fails", `{ expr: "1 / size(query.q)" }`, question{}, shed.Useless, assemble.Failed},
		{"a table by path", `{ table: { values: { "/a/*": 0.5, "/a/b": 0.25 } } }`, question{path: "/a/b"}, 250_000, assemble.Well},
		{"how the path begins", `{ table: { values: { "/a/*": 0.5, "/a/b": 0.25 } } }`, question{path: "/a/c"}, 500_000, assemble.Well},
		{"nothing fits", `{ table: { values: { "/a/*": 0.5 } } }`, question{path: "/b"}, shed.Useless, assemble.Well},
		{"a table by a key", `{ table: { key: "header:X-Kind", values: { "header:X-Kind=a": 0.5 } } }`, question{key: "a"}, 500_000, assemble.Well},
		{"nothing is known yet", `{ learned: { compare: exact } }`, question{}, shed.Useless, assemble.Well},
		{"a prior", `{ value: 0.5, learned: { compare: exact } }`, question{}, 500_000, assemble.Well},
	} {
		t.Run(c.say, func(t *testing.T) {
			cfg := parse(t, "version: 1\nupstreams: { a: { url: 'http://h' } }\nclasses: { c: { ladder: [cache: { ttl: 60s }], gap: "+c.gap+" } }\n")
			g, err := assemble.GapOf(cfg.Classes[0].Gap)
			if err != nil {
				t.Fatal(err)
			}
			if got, found := g.Of(c.asked); got != c.want || found != c.found {
				t.Errorf("gap %d (%v), want %d (%v)", got, found, c.want, c.found)
			}
			if g.Says != (c.say != "nothing") {
				t.Errorf("says: %v", g.Says)
			}
		})
	}
}

func TestRangesOfATableReachIt(t *testing.T) {
	cfg := parse(t, `version: 1
upstreams: { a: { url: 'http://h' } }
classes: { c: { ladder: [cache: { ttl: 60s }], gap: { table: { ranges: [{ to: 3, gap: 0.75 }, { to: 10, gap: 0.5 }] } } } }
`)
	g, err := assemble.GapOf(cfg.Classes[0].Gap)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]shed.Gap{"3": 750_000, "7": 500_000, "11": shed.Useless} {
		if got, _ := g.Of(question{path: path}); got != want {
			t.Errorf("%s: gap %d, want %d", path, got, want)
		}
	}
}

func TestEveryKeyOfLearnedReachesItsRule(t *testing.T) {
	cfg := parse(t, `version: 1
upstreams: { a: { url: 'http://h' } }
classes: { c: { ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact, by: "query.q", sample: 2.5%, buckets: 7, enough: 11, half_life: 3m } } } }
`).WithDefaults()
	l, err := assemble.LearnedOf(cfg, cfg.Classes[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := (gap.Rule{Buckets: 7, Enough: 11, HalfLife: 3 * time.Minute}); l.Rule != want || l.Share != 25_000 {
		t.Errorf("%+v, share %d", l.Rule, l.Share)
	}
	if text, err := l.By.Text(question{q: "lamps"}); text != "lamps" || err != nil {
		t.Errorf("bucket %q, %v", text, err)
	}
	cfg.Classes[0].Gap.Learned = config.Learned{}
	if l, err := assemble.LearnedOf(cfg, cfg.Classes[0]); l != nil || err != nil {
		t.Errorf("nothing is to be learned, and there is %+v, %v", l, err)
	}
}

// The defaults of the file are those of the policy.
func TestWhatIsNotSaidOfLearningIsAsThePolicyHasIt(t *testing.T) {
	cfg := parse(t, "version: 1\nupstreams: { a: { url: 'http://h' } }\nclasses: { c: { ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact } } } }\n").WithDefaults()
	l, err := assemble.LearnedOf(cfg, cfg.Classes[0])
	if err != nil || l.Rule != (gap.Rule{}).WithDefaults() {
		t.Errorf("%+v (%v), want %+v", l.Rule, err, gap.Rule{}.WithDefaults())
	}
}
