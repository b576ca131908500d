package lines_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/workload/internal/lines"
)

// TestPeekReadsNothing: what was looked at is still to come.
func TestPeekReadsNothing(t *testing.T) {
	r, err := lines.New(strings.NewReader("\xef\xbb\xbf\n  first \r\n\nsecond\nlast"))
	if err != nil {
		t.Fatal(err)
	}
	if seen := r.Peek(2); len(seen) != 2 || string(seen[0]) != "first" || string(seen[1]) != "second" {
		t.Errorf("looked at %q", seen)
	}
	if !r.Starts("\n  first") || r.Starts("second") {
		t.Error("it does not start with what it starts with")
	}
	for i, want := range []string{"first", "second", "last"} {
		line, err := r.Next()
		if err != nil || string(line) != want || r.Number() != []int64{2, 4, 5}[i] {
			t.Errorf("read %q as line %d (%v), want %q", line, r.Number(), err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// TestPeekOfLongLines: a line that goes on beyond what can be looked at is none.
func TestPeekOfLongLines(t *testing.T) {
	r, err := lines.New(strings.NewReader("short\n" + strings.Repeat("x", 100_000) + "\n" + strings.Repeat("y", lines.Longest+1) + "\nend\n"))
	if err != nil {
		t.Fatal(err)
	}
	if seen := r.Peek(10); len(seen) != 1 || string(seen[0]) != "short" {
		t.Errorf("looked at %d lines", len(seen))
	}
	var lengths []int
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, lines.ErrLong) {
			lengths = append(lengths, -1)
			continue
		}
		lengths = append(lengths, len(line))
	}
	if len(lengths) != 4 || lengths[1] != 100_000 || lengths[2] != -1 || lengths[3] != 3 {
		t.Errorf("lines of %d bytes", lengths)
	}
}
