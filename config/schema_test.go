package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// againstSchema validates YAML as an editor would.
func againstSchema(t testing.TB, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// The schema accepts what Parse accepts, and DESIGN's example whole.
func TestSchemaAcceptsWhatIsRight(t *testing.T) {
	s := compiledSchema(t)
	files, _ := filepath.Glob("testdata/*.yaml")
	files = append(files, "../examples/spillway.yaml")
	accepted := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in, want, _ := strings.Cut(string(raw), "\n----\n")
		if want != "" && !strings.HasPrefix(want, "ok\n") && filepath.Base(file) != "design_not_yet.yaml" {
			continue
		}
		accepted++
		if err := againstSchema(t, s, []byte(in)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if accepted < 5 {
		t.Errorf("only %d files", accepted)
	}
}

func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	s := compiledSchema(t)
	for _, class := range []string{
		"slotz: 4", "slots: 0", "slots: four", "slots: { mn: 1 }", "deadline: 300", "deadline: 5 minutes", "order: best", "mode: 10",
		"when_full: { blok: 1s }", "tenant: { policy: rr }", "tenant: { key: X-Tenant }", "tenant: { key: client, weights: { a: 0 } }",
		"memory: { limit: 64 }", "match: { path: 7 }", "expect: { callers_attempts: 3 }", "feasible: maybe", "ladder: [{ cache: {} }]",
	} {
		in := "upstreams: { app: { url: \"http://h\" } }\nclasses: { all: { " + class + " } }\n"
		if err := againstSchema(t, s, []byte(in)); err == nil {
			t.Errorf("%s is accepted", class)
		}
		if _, err := Parse("x", []byte(in)); err == nil {
			t.Errorf("%s is accepted by Parse", class)
		}
	}
	for _, in := range []string{"{}", "[]", "version: 2\n" + oneClass, "upstreams: {}\nclasses: {}", strings.Replace(oneClass, "app:", "a b:", 1)} {
		if err := againstSchema(t, s, []byte(in)); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}

// The pages in docs/reference are what the types say; -update rewrites them.
func TestReferencePagesAreCurrent(t *testing.T) {
	for path, want := range map[string][]byte{
		"../docs/reference/config.md":          Reference(),
		"../docs/reference/config.schema.json": Schema(),
	} {
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (%v); run go test ./config -update", path, err)
		}
	}
}

func TestEveryKeySaysWhatItMeans(t *testing.T) {
	if i := bytes.Index(Reference(), []byte("|  |\n")); i >= 0 {
		t.Errorf("a key without meaning: %s", Reference()[max(0, i-80):i])
	}
}

func TestTheExampleLoadsWithoutWarnings(t *testing.T) {
	c, err := Load("../examples/spillway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Warnings() {
		t.Error(w)
	}
	if len(c.Classes) != 3 {
		t.Errorf("%d classes", len(c.Classes))
	}
}
