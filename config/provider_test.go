package config

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const providerFile = `
version: 1
upstreams:
  llm: { url: "http://127.0.0.1:9001", provider: PROVIDER }
classes:
  all: { match: { path: "/*" }, upstream: llm, slots: 4 }
`

func providerOf(t *testing.T, text string) (*Config, error) {
	t.Helper()
	t.Setenv("SPILLWAY_TEST_KEY", "sk-test-123")
	t.Setenv("SPILLWAY_TEST_TWO", "sk-test\n456")
	return Parse("spillway.yaml", []byte(strings.Replace(providerFile, "PROVIDER", text, 1)))
}

func TestProviders(t *testing.T) {
	cfg, err := providerOf(t, `{ kind: openai }`)
	if err != nil {
		t.Fatal(err)
	}
	if p := cfg.WithDefaults().Upstreams[0].Provider; p.Kind != ProviderOpenAI || p.Output != 4096 || p.Body != 32<<20 || p.Bodies != 256<<20 {
		t.Errorf("%+v", p)
	}
	cfg, err = providerOf(t, `{ kind: anthropic, key: "${SPILLWAY_TEST_KEY}", output: 1000, models: { "claude-*": { output: 64000, input_price: 3, output_price: 15, margin: 50% } } }`)
	if err != nil {
		t.Fatal(err)
	}
	if p := cfg.Upstreams[0].Provider; p.Key.Value() != "sk-test-123" || p.Models["claude-*"].OutputPrice != 15 {
		t.Errorf("%+v", p)
	}
	shown, err := yaml.Marshal(cfg)
	if err != nil || strings.Contains(string(shown), "sk-test") || !strings.Contains(string(shown), "SPILLWAY_TEST_KEY") {
		t.Errorf("the key is shown, or it is not said whose it is: %v\n%s", err, shown)
	}
}

func TestWhatIsWrongWithAProvider(t *testing.T) {
	for text, want := range map[string]string{
		`{ kind: open }`:                                       "kind",
		`{ key: "x" }`:                                         "kind",
		`{ kind: openai, output: 0 }`:                          "output",
		`{ kind: openai, body: 1GiB }`:                         "above bodies",
		`{ kind: openai, key: "${SPILLWAY_TEST_TWO}" }`:        "cannot be sent in a header",
		`{ kind: openai, models: { "a*b": { output: 1 } } }`:   "with at most one *",
		`{ kind: openai, costs: { input: "1" } }`:              "means nothing with openai",
		`{ kind: generic, costs: { input: "size(" } }`:         "costs.input",
		`{ kind: generic, costs: { input: "'text'" } }`:        "gives string",
		`{ kind: openai, models: { a: { input_price: -1 } } }`: "input_price",
	} {
		_, err := providerOf(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something of %q", text, err, want)
		} else if strings.Contains(err.Error(), "sk-test") {
			t.Errorf("%s: the key is shown: %v", text, err)
		}
	}
}
