package latency

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// lineMost bounds a line of a list; a duration is far shorter.
const lineMost = 256

// IsList reports whether what a file begins with is a list: its first line that is
// neither empty nor a comment is a duration.
func IsList(head []byte) bool {
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		_, err := time.ParseDuration(text)
		return err == nil
	}
	return false
}

// FromList reads one duration a line, with its unit, as in 2.9ms. Empty lines and
// those that begin with # are passed over; anything else is an error that names the
// line.
func FromList(in io.Reader) (Sample, error) {
	var s Sample
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, lineMost), lineMost)
	n := 1
	for ; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return s, fmt.Errorf("line %d: %.40q is no duration; write one with its unit, as in 2.9ms", n, text)
		}
		s.Take(d)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return s, fmt.Errorf("line %d is longer than %d bytes; write one duration a line", n, lineMost)
	}
	if lines.Err() == nil && s.Count == 0 {
		return s, errors.New("no durations; write one a line, with its unit, as in 2.9ms")
	}
	return s, lines.Err()
}
