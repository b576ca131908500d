package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asProgram makes the test binary be the program: the tests run real processes
// without a build of their own, under the race detector where they do.
const asProgram = "SPILLWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command prepares a process of the program in a folder.
func command(ctx context.Context, t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), asProgram+"=1", "NO_COLOR=1")
	return c
}

// spillway runs the program to its end.
func spillway(t *testing.T, folder string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := command(ctx, t, folder, args...)
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	var exit *exec.ExitError
	if e := c.Run(); errors.As(e, &exit) {
		code = exit.ExitCode()
	} else if e != nil {
		t.Fatal(e)
	}
	return out.String(), err.String(), code
}

// files returns a folder with a right and a wrong configuration, and more.
func files(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	example, err := os.ReadFile("../../examples/spillway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"spillway.yaml": string(example),
		"wrong.yaml":    "version: 1\nupstreams:\n  app: { url: \"http://127.0.0.1:1\" }\nclasses:\n  all: { match: { path: \"/*\" }, slots: 4, deadlin: 1s }\n",
		"warned.yaml":   "version: 1\nupstreams:\n  app: { url: \"http://127.0.0.1:1\", slots: 2, service: 10ms }\nclasses:\n  all: { match: { path: \"/*\" }, slots: 4 }\n",
		"unknown.yaml":  "version: 1\nupstreams:\n  app: { url: \"http://127.0.0.1:1\" }\nclasses:\n  all: { match: { path: \"/*\" }, slots: 4 }\n",
		"trace.csv":     "at,who,took\n0,a,0.1\n0.5,b,0.1\nnonsense\n1,a,0.1\n",
		"text.csv":      "no,time,here\n1,2,3\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// document reads exactly one JSON document and fails if anything follows it.
func document(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("no JSON document: %v\n%s", err, text)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("more than one JSON document: %s", text)
	}
	return doc
}
