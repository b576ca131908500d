package config

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A copy is a URL, or keys; a weight of 1 says nothing, wherever it is written.
func TestCopiesAreURLsOrKeys(t *testing.T) {
	const classes = "\nclasses: { all: {} }\n"
	plain := must(Parse("x", []byte(`upstreams: { app: { urls: ["http://a", "http://b"] } }`+classes)))
	for _, tt := range []struct {
		urls, diff string
		weights    []int
		same       bool
	}{
		{`["http://a", { url: "http://b" }]`, "", []int{1, 1}, true},
		{`[{ url: "http://a", weight: 1 }, "http://b"]`, "", []int{1, 1}, true},
		{`["http://a", { url: "http://b", weight: 3 }]`, "[http://a, http://b] -> [http://a, { url: http://b, weight: 3 }]", []int{1, 3}, false},
		{`[{ url: "http://a", weight: 0 }, "http://b"]`, "[http://a, http://b] -> [{ url: http://a, weight: 0 }, http://b]", []int{0, 1}, false},
	} {
		cfg, err := Parse("x", []byte("upstreams: { app: { urls: "+tt.urls+" } }"+classes))
		if err != nil {
			t.Fatalf("%s: %v", tt.urls, err)
		}
		if got := cfg.WithDefaults().Upstreams[0].Weights(); !slices.Equal(got, tt.weights) {
			t.Errorf("%s: weights %v, want %v", tt.urls, got, tt.weights)
		}
		if same := cfg.Digest() == plain.Digest(); same != tt.same {
			t.Errorf("%s: the same digest as without: %v", tt.urls, same)
		}
		text, err := yaml.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("x", text); err != nil || again.Digest() != cfg.Digest() {
			t.Errorf("%s: written out it is another: %v\n%s", tt.urls, err, text)
		}
		changes := Diff(plain, cfg)
		switch {
		case tt.diff == "" && len(changes) > 0:
			t.Errorf("%s: %v", tt.urls, changes)
		case tt.diff != "" && (len(changes) != 1 || changes[0].Old+" -> "+changes[0].New != tt.diff):
			t.Errorf("%s: %v, want %s", tt.urls, changes, tt.diff)
		}
	}
}

func TestASingleCopyHasNoWeight(t *testing.T) {
	cfg := must(Parse("x", []byte("upstreams: { app: { urls: [{ url: \"http://a\", weight: 7 }] } }\nclasses: { all: {} }\n")))
	if u := cfg.WithDefaults().Upstreams[0]; u.URL.Value() != "http://a" || !slices.Equal(u.Weights(), []int{1}) {
		t.Errorf("%v, weights %v", u.URL, u.Weights())
	}
}
