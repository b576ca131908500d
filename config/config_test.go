package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const oneClass = "upstreams: { app: { url: \"http://127.0.0.1:9001\" } }\nclasses: { all: {} }\n"

func TestClassesKeepTheirOrder(t *testing.T) {
	in := "upstreams: { app: { url: \"http://127.0.0.1:9001\" } }\nclasses:\n"
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprintf("c%d", (i*37)%50))
		in += fmt.Sprintf("  %s: { match: { path: /%d } }\n", want[i], i)
	}
	c, err := Parse("x", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range c.Classes {
		got = append(got, k.Name)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// Each default tag, which the reference prints, is what WithDefaults fills in.
func TestDefaultsAreWhatTheReferenceSays(t *testing.T) {
	client := Key{Kind: FromClient}
	ca := TLS{ClientCA: Literal("ca.pem")}
	calls := Call{Hedge: Hedge{After: HedgeAfter{Percentile: 95}}, Breaker: Breaker{Failures: 50}, Throttle: Throttle{K: 2}}
	learned := Gap{Learned: Learned{Compare: Compare{Word: CompareOverlap, Overlap: "items"}}}
	trust := Trust{JWT: TrustJWT{JWKS: Literal("jwks.json")}, Keys: TrustKeys{File: Literal("keys.json")}, Proxies: TrustProxies{From: Words{"10.0.0.0/8"}}}
	c := (&Config{Ledger: Ledger{URL: Literal("sqlite:x"), Reconcile: Reconcile{Record: Literal("http://h")}}, TLS: ca, Trust: trust, Admin: Admin{TLS: ca}, Classes: []Class{{Tenant: Tenant{Key: client}, Session: Session{Key: client}, Call: calls, Gap: learned, Shed: Shed{Redeal: Duration(600e9)}}}}).WithDefaults()
	checked := 0
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		for _, f := range fieldsOf(v.Type()) {
			x, at := v.Field(f.index), join(path, f.key)
			if notBuiltAt(at, "") != nil {
				continue
			}
			if f.def != "" {
				checked++
				if got := fmt.Sprint(show(x)); got != f.def {
					t.Errorf("%s: the tag says %s, WithDefaults %s", at, f.def, got)
				}
			}
			if x.Kind() == reflect.Struct && len(fieldsOf(x.Type())) > 0 {
				walk(x, at)
			}
		}
	}
	walk(reflect.ValueOf(*c), "")
	walk(reflect.ValueOf(c.Classes[0]), "classes.NAME")
	if checked < 20 {
		t.Errorf("only %d defaults were compared", checked)
	}
}

func show(x reflect.Value) any {
	switch v := x.Interface().(type) {
	case Text:
		return v.String()
	case Listeners:
		return v[0].Address.String()
	case Admin:
		return v.Address.String()
	case written:
		return v.format()
	}
	return x.Interface()
}

func TestFillingDefaults(t *testing.T) {
	in, err := Parse("x", []byte("upstreams: { app: { urls: [\"http://h\"] } }\nclasses: { all: { deadline: 2s, tenant: { key: client, weights: { a: 2 } } } }\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%#v", in)
	out := in.WithDefaults()
	k := out.Classes[0]
	for _, c := range []struct {
		say       string
		got, want any
	}{
		{"the one upstream is meant", k.Upstream, "app"},
		{"urls with one entry is url", out.Upstreams[0].URL.Value(), "http://h"},
		{"latency is the deadline", k.Budget.Latency.D(), 2 * time.Second},
		{"max_deadline stays", k.MaxDeadline.D(), 5 * time.Minute},
		{"max_age is the deadline, which needs no second figure", k.MaxAge.D(), time.Duration(0)},
		{"tenants share by cost", k.Tenant.Policy, FairDRR},
		{"service time is measured", k.Budget.Service.D(), time.Duration(0)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.say, c.got, c.want)
		}
	}
	k.Tenant.Weights["a"] = 9
	out.Upstreams[0].Name = "changed"
	if after := fmt.Sprintf("%#v", in); after != before {
		t.Error("filling, or changing the filled copy, changed the original")
	}
	k.Tenant.Weights["a"] = 2
	if again := in.WithDefaults().WithDefaults(); !reflect.DeepEqual(again, in.WithDefaults()) {
		t.Error("filling twice changes something")
	}
	if err := in.WithDefaults().Validate(); err != nil {
		t.Errorf("the filled copy is not valid: %v", err)
	}
}

func TestForUpstream(t *testing.T) {
	c, err := ForUpstream("http://127.0.0.1:9001", 0)
	if err != nil {
		t.Fatal(err)
	}
	if k := c.WithDefaults().Classes[0]; k.Slots.Fixed != 20 || k.Upstream != "app" || !k.Match.Pattern().Matches("GET", "h", "/x", nil) {
		t.Errorf("got %+v", k)
	}
	for in, want := range map[string]string{
		"127.0.0.1:9001":  `config: upstreams.app.url is not a URL; write it as in "http://127.0.0.1:9001"`,
		"localhost:9001":  "config: upstreams.app.url has no scheme that is known; begin it with http://, https://, h2c:// or unix:/",
		"":                `config: upstreams.app.url is missing; add it, as in url: "http://127.0.0.1:9001"`,
		"http://${HOME}/": "config: upstreams.app.url is not a URL; write it as in \"http://127.0.0.1:9001\"",
	} {
		if _, err := ForUpstream(in, 0); err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, err := ForUpstream("http://h", -1); err == nil || !strings.Contains(err.Error(), "slots is -1") {
		t.Errorf("-1 slots: %v", err)
	}
}

// A Config made in Go is held to the rules of a file.
func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Class){
		"order is":                           func(k *Class) { k.Order = "best" },
		"negative":                           func(k *Class) { k.Deadline = -1 },
		"too long":                           func(k *Class) { k.Call.Timeout = 1 << 62 },
		"is not a key":                       func(k *Class) { k.Tenant.Key.Kind = "body" },
		"key is missing":                     func(k *Class) { k.Tenant.Queue = 3 },
		"borrow is -1":                       func(k *Class) { k.Borrow = -1 },
		"contradicts":                        func(k *Class) { k.WhenFull = WhenFull{Policy: FullReject, Block: Duration(time.Second)} },
		"weights.a is 0":                     func(k *Class) { k.Tenant = Tenant{Key: Key{Kind: FromClient}, Weights: map[string]int{"a": 0}} },
		"not an upstream":                    func(k *Class) { k.Upstream = "other" },
		"is not a name":                      func(k *Class) { k.Name = "a.b" },
		"neither on nor off":                 func(k *Class) { k.Feasible = "yes" },
		"slots.min is 10, above max 9":       func(k *Class) { k.Slots = Slots{Min: 10, Max: 9} },
		"slots.start is 10, above max 9":     func(k *Class) { k.Slots = Slots{Start: 10, Max: 9} },
		"slots.start is 1, below min 4":      func(k *Class) { k.Slots = Slots{Start: 1, Min: 4} },
		"retry_budget is off and a share":    func(k *Class) { k.Call.RetryBudget = AttemptBudget{Off: true, Percent: 5} },
		"backoff is off and says how long":   func(k *Class) { k.Call.Backoff = Backoff{Off: true, Base: 5} },
		"jitter is \"half\"":                 func(k *Class) { k.Call.Backoff.Jitter = "half" },
		"give 1us to 1h":                     func(k *Class) { k.Call.Hedge.After.Fixed = 1 },
		"is no percentile":                   func(k *Class) { k.Call.Hedge.After.Percentile = 100 },
		"breaker has no rule":                func(k *Class) { k.Call.Breaker.Probes = 1 },
		"match.expr gives int":               func(k *Class) { k.Match.Expr = "1" },
		"gap means nothing without a ladder": func(k *Class) { k.Gap.Value = 0.5 },
		"compare word \"exact\" contradicts": func(k *Class) {
			k.Gap.Learned.Compare = Compare{Word: CompareExact, Field: "a"}
		},
		"compare field and number exclude each other": func(k *Class) {
			k.Gap.Learned.Compare = Compare{Word: CompareField, Field: "a", Number: "b"}
		},
		"latency 1s, service 1": func(k *Class) { k.Budget = Budget{Duration(time.Second), Duration(time.Second)} },
	} {
		c, err := ForUpstream("http://h", 4)
		if err != nil {
			t.Fatal(err)
		}
		change(&c.Classes[0])
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("url", "http://127.0.0.1:9001\n")
	path := write("good.yaml", strings.Replace(oneClass, `"http://127.0.0.1:9001"`, `"file:url"`, 1))
	c, err := Load(path)
	if err != nil || c.Upstreams[0].URL.Value() != "http://127.0.0.1:9001" {
		t.Errorf("file: beside the configuration: %v, %v", c, err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "cannot be read: no such file or directory; name an existing file",
		dir:                             "is not a regular file",
		"/dev/null":                     "is not a regular file",
		write("large.yaml", strings.Repeat("#\n", maxFile)):                "file is larger than 1 MiB",
		write("device.yaml", "upstreams: { app: { url: file:/dev/zero }}"): `file "/dev/zero" cannot be used: is not a regular file`,
		write("big.yaml", "upstreams: { app: { url: file:large.yaml }}"):   `file "large.yaml" cannot be used: is too large`,
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: %v; want %s", path, err, want)
		}
	}
}

func TestErrorsAreFoundOneByOne(t *testing.T) {
	_, err := Parse("f.yaml", []byte("lisen: x\n"+oneClass+"admn: y\n"))
	var all Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("got %v", err)
	}
	one, ok := errors.AsType[*Error](err)
	if !ok || one.File != "f.yaml" || one.Line != 1 || one.Column != 1 || one.Path != "lisen" || one.What == "" || one.Fix != `did you mean "listen"?` {
		t.Errorf("got %#v", one)
	}
}

func TestAReportIsBounded(t *testing.T) {
	in := oneClass
	for i := range 10_000 {
		in += fmt.Sprintf("key%d: 1\n", i)
	}
	_, err := Parse("x", []byte(in))
	if got := strings.Count(err.Error(), "\n") + 1; got != maxErrors+1 || !strings.HasSuffix(err.Error(), "and 9950 more") {
		t.Errorf("%d lines, ending %q", got, err.Error()[len(err.Error())-30:])
	}
}

// Aliases multiply: the classes below stand for 8,000 x 8,000 method names.
func TestAliasBombsAreRefused(t *testing.T) {
	var in strings.Builder
	in.WriteString("upstreams: { app: { url: \"http://h\" } }\nclasses:\n  a0: &a { match: { path: /a, method: [" + strings.Repeat("GET,", 8000) + "] } }\n")
	for i := range 8000 {
		fmt.Fprintf(&in, "  a%d: *a\n", i+1)
	}
	_, err := Parse("x", []byte(in.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 50,000 values") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %.300v", err)
	}
}

func TestASecretIsNeverShown(t *testing.T) {
	c, err := parseIn("x", []byte("upstreams:\n  a: { url: file:secret.txt }\n  b: { url: \"http://me:hunter2@h\" }\n  c: { url: \"${APP_URL}\" }\nclasses: { all: { upstream: a } }\n"), testWorld)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(c.Upstreams), fmt.Sprintf("%+v", c.Upstreams), fmt.Sprintf("%#v", c.Upstreams), fmt.Sprint(c.Warnings())} {
		if strings.Contains(shown, "hunter2") {
			t.Errorf("shown in %s", shown)
		}
	}
	out, err := yaml.Marshal(c)
	if err != nil || strings.Contains(string(out), "9001") || !strings.Contains(string(out), "${APP_URL}") {
		t.Errorf("%v: YAML holds what was replaced, or not what was written:\n%s", err, out)
	}
	if got := c.Upstreams[0].URL.Value(); got != "http://user:hunter2@127.0.0.1:9001" {
		t.Errorf("the value is %q", got)
	}
}

func TestNotBuiltNamesKeysThatExist(t *testing.T) {
	known := map[string]bool{}
	walkTypes(reflect.TypeFor[Config](), "", func(path string, _ reflect.Type, fields []field) {
		for _, f := range fields {
			known[strings.ReplaceAll(join(path, f.key), "NAME", "*")] = true
		}
	})
	for _, b := range notYet {
		path, _, _ := strings.Cut(b.path, "=")
		path = strings.ReplaceAll(path, "ladder.*.", "ladder.") // entries of a list have no names
		if !known[strings.TrimSuffix(path, ".1")] {
			t.Errorf("%s is no key of the format", b.path)
		}
	}
}

// A word that a key takes is read, and written again as it was.
func TestWordsOfKeys(t *testing.T) {
	for _, c := range []struct {
		in     string
		to     scalar
		want   any
		failed string
	}{
		{"off", new(AttemptBudget), AttemptBudget{Off: true}, ""},
		{"10%", new(AttemptBudget), AttemptBudget{Percent: 10}, ""},
		{"0%", new(AttemptBudget), nil, "allows none"},
		{"ten", new(AttemptBudget), nil, "not a percentage"},
		{"p95", new(HedgeAfter), HedgeAfter{Percentile: 95}, ""},
		{"10ms", new(HedgeAfter), HedgeAfter{Fixed: Duration(10 * time.Millisecond)}, ""},
		{"p0", new(HedgeAfter), nil, "no percentile"},
		{"p99.9", new(HedgeAfter), nil, "no percentile"},
		{"2h", new(HedgeAfter), nil, "is 2h"},
		{"off", new(Backoff), Backoff{Off: true}, ""},
		{"on", new(Backoff), nil, "neither off nor keys"},
		{"shadow", new(Mode), Mode{Kind: ModeShadow}, ""},
		{"10%", new(Mode), Mode{ModePercent, 10}, ""},
		{"on", new(Mode), nil, "not a mode"},
		{"true", new(Switch), On, ""},
		{"false", new(Switch), Off, ""},
	} {
		err := c.to.parse("!!str", c.in)
		got := reflect.ValueOf(c.to).Elem().Interface()
		switch {
		case c.failed == "" && (err != nil || got != c.want):
			t.Errorf("%T %s: %v, %v", c.to, c.in, got, err)
		case c.failed == "" && got.(written).format() != c.in && c.want != On && c.want != Off:
			t.Errorf("%T %s is written %s", c.to, c.in, got.(written).format())
		case c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)):
			t.Errorf("%T %s: %v, want %q", c.to, c.in, err, c.failed)
		}
	}
}

func TestDefaultIsAnEmptyFileFilledIn(t *testing.T) {
	c := Default()
	if c.Listen[0].Address.Value() != ":8080" || c.Admin.Address.Value() != "127.0.0.1:9900" || c.Seed != 1 || c.Version != 1 {
		t.Errorf("got %+v", c)
	}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "upstreams is missing") {
		t.Errorf("it has no upstream, but: %v", err)
	}
}

// A message is one line whatever a key or a value holds.
func TestAMessageIsOneLine(t *testing.T) {
	for _, in := range []string{
		"\"a\\nb\\x07\": 1\n", "upstreams: { \"a\\nb\": { url: x } }\n", strings.Repeat("k", 10_000) + ": 1\n",
		"log: { level: \"a\\nb" + strings.Repeat("x", 10_000) + "\" }\n", "upstreams: { a: { service: { mix: [1, [1]] } } }\n",
	} {
		_, err := Parse("x", []byte(in))
		if err == nil {
			t.Errorf("%.40q is accepted", in)
			continue
		}
		for _, e := range err.(Errors) {
			if s := e.Error(); strings.ContainsAny(s, "\n\a") || len(s) > 400 {
				t.Errorf("%.500q", s)
			}
		}
	}
}
