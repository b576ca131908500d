package gateway

import (
	"strings"
	"testing"
)

// Whatever is sent, it is refused or it is an opinion within its bounds.
func FuzzOpinions(f *testing.F) {
	for _, s := range []string{`{"id":"r-1","score":0.7}`, `{"id":"r","accepted":true}`, `{"id":"","score":2}`, `{"id":"a","score":1e999}`, `[]`, `null`, `{"id":"a","score":null,"accepted":false}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if o, err := readOpinion(strings.NewReader(body)); err == nil && (o.ID == "" || len(o.ID) > feedbackIDMost || o.Score == nil || !(*o.Score >= 0 && *o.Score <= 1)) {
			t.Errorf("%q is read as %+v", body, o)
		}
	})
}
