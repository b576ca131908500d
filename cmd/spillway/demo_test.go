package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDemoCommand: a short demo as one document and a page, and nothing left.
func TestDemoCommand(t *testing.T) {
	folder := t.TempDir()
	stdout, stderr, code := spillway(t, folder, "demo", "--without", "500ms", "--with", "500ms", "--report", "demo.html", "--json")
	if code != exitDone {
		t.Fatalf("exits %d and says %s", code, stderr)
	}
	doc := document(t, stdout)
	for _, field := range []string{"without", "with", "predicted_without", "predicted_with", "differences", "generator"} {
		if doc[field] == nil {
			t.Errorf("no %s in the document", field)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "demo.html")); err != nil || info.Size() < 10_000 {
		t.Errorf("the page: %v, %v", info, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: the page is all that is to be left", left, err)
	}
}
