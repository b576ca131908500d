package compare

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
)

// UnpackedMost is what a body may unpack to, in bytes.
const UnpackedMost = 4 << 20

// unpacked is the answer's body without its coding, if that is known.
func (a Answer) unpacked() ([]byte, bool) {
	switch strings.ToLower(a.Coding) {
	case "", "identity":
		return a.Body, true
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(bytes.NewReader(a.Body))
		if err != nil {
			return nil, false
		}
		body, err := io.ReadAll(io.LimitReader(r, UnpackedMost+1))
		return body, err == nil && len(body) <= UnpackedMost
	}
	return nil, false
}
