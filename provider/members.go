package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/provider/scan"
)

// membersMost bounds the members of a request.
const membersMost = 256

// What is wrong with a request.
var (
	ErrCoded  = errors.New("the body is compressed, so that nobody can say what it costs; send it as it is")
	errJSON   = errors.New("the body is no JSON")
	errObject = errors.New("the body is no JSON object")
)

// Members returns the members of a request whose body is a JSON object. A member that
// is there twice is an error: which of the two counts is not the same everywhere, and
// what was charged must be what is run.
func Members(q *Request) (map[string][]byte, error) {
	switch coding := q.Header.Get("Content-Encoding"); {
	case coding != "" && coding != "identity":
		return nil, ErrCoded
	case !json.Valid(q.Body):
		return nil, errJSON
	}
	top := make(map[string][]byte)
	n := 0
	for k, v := range scan.Object(q.Body) {
		if n++; n > membersMost {
			return nil, fmt.Errorf("the body has more than %d members", membersMost)
		}
		if _, twice := top[string(k)]; twice {
			return nil, fmt.Errorf("%q is in the body twice; leave one", name(string(k)))
		}
		top[string(k)] = v
	}
	if body := bytes.TrimSpace(q.Body); body[0] != '{' {
		return nil, errObject
	}
	return top, nil
}

// Keys returns the keys of members, in order.
func Keys(members map[string][]byte) []string {
	keys := make([]string, 0, len(members))
	for k := range members { // sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// ModelOf takes the model's name.
func ModelOf(c *Call, value []byte) error {
	model, ok := scan.Text(value)
	switch {
	case !ok || model == "":
		return errors.New("the body names no model")
	case len(model) > NameMost:
		return fmt.Errorf("the model's name is longer than %d bytes", NameMost)
	case name(model) != model:
		return errors.New("the model's name has characters that are not printable ASCII")
	}
	c.Model = model
	return nil
}
