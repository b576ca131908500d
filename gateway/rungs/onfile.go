package rungs

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate/standin/onfile"
)

// KeepIn fills the cache, which must have been made with a journal, with what a file
// has under a name, and keeps the file up to date from now on.
func (c *Cache) KeepIn(f *onfile.File, name string) error {
	return errors.Join(
		onfile.Keep(f, name, c.answers, storedCodec{}),
		onfile.Keep(f, name+"/void", c.voided, onfile.JSON[struct{}]()),
	)
}

// storedCodec writes an answer as a line of JSON, its body behind it as it is.
type storedCodec struct{}

// filed is an answer without its body, in the file.
type filed struct {
	Status  int           `json:"status,omitempty"`
	Header  http.Header   `json:"header,omitempty"`
	AgeNs   time.Duration `json:"age_ns,omitempty"`
	FreshNs time.Duration `json:"fresh_ns,omitempty"`
	StaleNs time.Duration `json:"stale_ns,omitempty"`
	Varies  []string      `json:"varies,omitempty"`
}

// Append implements onfile.Codec.
func (storedCodec) Append(to []byte, s *stored) ([]byte, error) {
	b, err := json.Marshal(filed{s.status, s.header, s.age, s.fresh, s.stale, s.varies})
	to = append(to, b...)
	to = append(to, '\n')
	return append(to, s.body...), err
}

var errNoAnswer = errors.New("no answer")

// Decode implements onfile.Codec. What a request could not have brought about is
// refused: a file is input.
func (storedCodec) Decode(b []byte) (*stored, error) {
	line := 0
	for line < len(b) && b[line] != '\n' {
		line++
	}
	if line == len(b) {
		return nil, errNoAnswer
	}
	var f filed
	if err := json.Unmarshal(b[:line], &f); err != nil {
		return nil, err
	}
	_, known := keepable[f.Status]
	span := func(d time.Duration) bool { return d >= 0 && d <= 2*spanMost }
	switch {
	case len(f.Varies) > varyMost, !span(f.AgeNs), !span(f.FreshNs), !span(f.StaleNs),
		len(f.Varies) == 0 && !known, len(f.Varies) > 0 && known, sizeOf(f.Header) > headerMost:
		return nil, errNoAnswer
	}
	return &stored{
		status: f.Status, header: kept(f.Header), body: append([]byte(nil), b[line+1:]...),
		age: f.AgeNs, fresh: f.FreshNs, stale: f.StaleNs, varies: f.Varies,
	}, nil
}
