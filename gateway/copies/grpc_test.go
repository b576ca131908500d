package copies

import (
	"bytes"
	"testing"
)

func TestHealthMessages(t *testing.T) {
	if got := healthRequest("ab"); !bytes.Equal(got, []byte{0, 0, 0, 0, 4, 0x0a, 2, 'a', 'b'}) {
		t.Errorf("% x", got)
	}
	for _, tt := range []struct {
		name string
		body []byte
		ok   bool
	}{
		{"serving", []byte{0, 0, 0, 0, 2, 8, 1}, true},
		{"serving, and a field of a later version", []byte{0, 0, 0, 0, 6, 0x12, 2, 'x', 'y', 8, 1}, true},
		{"not serving", []byte{0, 0, 0, 0, 2, 8, 2}, false},
		{"unknown, which is not written", []byte{0, 0, 0, 0, 0}, false},
		{"nothing", nil, false},
		{"a length that lies", []byte{0, 0, 0, 0, 9, 8, 1}, false},
		{"compressed", []byte{1, 0, 0, 0, 2, 8, 1}, false},
		{"a field that is longer than all", []byte{0, 0, 0, 0, 2, 0x12, 0x7f}, false},
	} {
		if err := serving(tt.body); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Whatever a copy answers to a check is an answer or an error, never a panic.
func FuzzServing(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 8, 1})
	f.Add([]byte{0, 0, 0, 0, 6, 0x12, 2, 'x', 'y', 8, 1})
	f.Add([]byte{0, 0, 0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	f.Fuzz(func(t *testing.T, body []byte) { serving(body) })
}
