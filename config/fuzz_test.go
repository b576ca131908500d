package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Parse never panics; what it accepts is written and read back as the same, is right by
// the schema, can be filled with defaults, and stays valid then. What it refuses it
// refuses with a place and, in each line, what and fix.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range append(files, "../examples/spillway.yaml") {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		in, _, _ := strings.Cut(string(raw), "\n----\n")
		f.Add([]byte(in))
	}
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("\xff\xfe"))
	s := compiledSchema(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseIn("x", data, testWorld)
		if err != nil {
			for _, e := range err.(Errors) {
				if e.Line < 1 || e.Column < 1 || e.What == "" || e.Fix == "" || strings.ContainsAny(e.Error(), "\n\r") {
					t.Fatalf("not a line that helps: %#v", e)
				}
			}
			return
		}
		text, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseIn("x", text, testWorld)
		if err != nil {
			t.Fatalf("not accepted again: %v\n%s", err, text)
		}
		c.src, again.src = nil, nil
		if !reflect.DeepEqual(c, again) {
			t.Fatalf("read back as another:\n%+v\n%+v\n%s", c, again, text)
		}
		if err := againstSchema(t, s, text); err != nil {
			t.Fatalf("wrong by the schema: %v\n%s", err, text)
		}
		if err := c.WithDefaults().Validate(); err != nil {
			t.Fatalf("not valid with defaults: %v\n%s", err, text)
		}
		c.Warnings()
	})
}
