package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
)

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestRulesDigest: what decides about a request makes another digest, where
// things are does not.
func TestRulesDigest(t *testing.T) {
	const rules = "upstreams: { app: { url: \"http://a:1\", slots: 4 } }\nclasses:\n  x: { match: { path: /x }, slots: 1, tenant: { key: client, policy: priority, order: [c, a] } }\n" +
		"  all: { match: { path: \"/*\" }, slots: 4, tenant: { key: client, weights: { b: 1, a: 2 } } }\n"
	base := parsed(t, rules)
	for _, c := range []struct {
		change string
		same   bool
	}{
		{rules + "listen: \":9\"\n", true},
		{rules + "record: { file: x, keep: 3 }\n", true},
		{rules + "log: { level: debug }\n", true},
		{rules + "seed: 2\n", false},
		{strings.Replace(rules, "slots: 1", "slots: 2", 1), false},
		{strings.Replace(rules, `url: "http://a:1"`, `urls: ["http://b:1", { url: "http://c:1", weight: 1 }]`, 1), true},
		{strings.Replace(rules, `url: "http://a:1"`, `urls: ["http://b:1", { url: "http://c:1", weight: 2 }]`, 1), false},
	} {
		if got := parsed(t, c.change).RulesDigest() == base.RulesDigest(); got != c.same {
			t.Errorf("the same digest: %v, want %v, with\n%s", got, c.same, c.change)
		}
	}
	if base.Upstreams[0].URL.Value() != "http://a:1" {
		t.Error("it changed the configuration")
	}
	if got := base.TenantNames(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("tenants named: %q", got)
	}
}
