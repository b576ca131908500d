package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// response is what a report needs to know of an answer. Its slices are reused
// by the next read.
type response struct {
	status       int
	rung         []byte // Spillway-Rung, cut to maxLabel
	reason       []byte // Spillway-Reason, cut to maxLabel
	shadow       []byte // Spillway-Shadow, cut to maxLabel
	retryAfter   []byte // Retry-After
	retryAfterMs []byte // retry-after-ms
	neverRetry   bool   // x-should-retry: false
	body         int64  // length
	reuse        bool   // the connection can carry another request
	kept         []byte // the first keep bytes of the body
	keep         int
}

const (
	maxHead   = 64 << 10 // bytes of status line and headers, and of a chunked body's trailers
	maxLabel  = 64       // bytes kept of a header value
	maxInform = 16       // 1xx answers before the real one
)

var errMalformed = errors.New("the answer is not HTTP/1.1")

func malformed(what string, line []byte) error {
	return fmt.Errorf("%w: %s %.40q", errMalformed, what, line)
}

// readResponse reads one answer to a request of this method, body included,
// of which all but the first resp.keep bytes are thrown away. An error leaves the connection unusable; io.EOF means
// that it was closed before the first byte.
func readResponse(r *bufio.Reader, method string, resp *response) error {
	for range maxInform {
		b := body{length: -1}
		if err := readHead(r, resp, &b); err != nil {
			return err
		}
		switch {
		case resp.status == 101:
			resp.reuse = false // it speaks something else from now on
			return nil
		case resp.status < 200:
			continue
		case method == "HEAD" || resp.status == 204 || resp.status == 304:
			return nil
		}
		return b.discard(r, resp)
	}
	return malformed("too many 1xx answers,", nil)
}

// body is how long a body is, by its headers.
type body struct {
	length  int64 // below 0 is not said
	chunked bool
	old     bool // HTTP/1.0, which knows no chunks (RFC 9112, 6.1)
}

func readHead(r *bufio.Reader, resp *response, b *body) error {
	*resp = response{rung: resp.rung[:0], reason: resp.reason[:0], shadow: resp.shadow[:0], retryAfter: resp.retryAfter[:0], retryAfterMs: resp.retryAfterMs[:0], reuse: true, kept: resp.kept[:0], keep: resp.keep}
	left := maxHead
	line, err := readLine(r, &left)
	if err != nil {
		return err
	}
	// HTTP/1.1 200 OK, of which the phrase may be missing
	if len(line) < len("HTTP/1.x 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return malformed("status line", line)
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return malformed("status line", line)
		}
		resp.status = resp.status*10 + int(c-'0')
	}
	if resp.status < 100 {
		return malformed("status line", line)
	}
	switch line[7] {
	case '1':
	case '0':
		resp.reuse, b.old = false, true
	default:
		return malformed("status line", line)
	}
	for {
		if line, err = readLine(r, &left); err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			return nil
		}
		name, value, cut := bytes.Cut(line, []byte{':'})
		if !cut || len(name) == 0 || bytes.ContainsAny(name, " \t") {
			return malformed("header", line)
		}
		if err := resp.header(name, bytes.Trim(value, " \t"), b); err != nil {
			return err
		}
	}
}

func (resp *response) header(name, value []byte, b *body) error {
	is := func(what string) bool { return len(name) == len(what) && bytes.EqualFold(name, []byte(what)) }
	switch name[0] | 0x20 {
	case 'c':
		switch {
		case is("Content-Length"):
			n, err := parseLength(value)
			if err != nil || b.length >= 0 && b.length != n {
				return malformed("Content-Length", value)
			}
			b.length = n
		case is("Connection"):
			if bytes.EqualFold(value, []byte("close")) {
				resp.reuse = false
			}
		}
	case 't':
		if is("Transfer-Encoding") && !b.old {
			if b.chunked || !bytes.EqualFold(value, []byte("chunked")) {
				return malformed("Transfer-Encoding", value)
			}
			b.chunked = true
		}
	case 's':
		switch {
		case is("Spillway-Rung"):
			resp.rung = append(resp.rung[:0], value[:min(len(value), maxLabel)]...)
		case is("Spillway-Reason"):
			resp.reason = append(resp.reason[:0], value[:min(len(value), maxLabel)]...)
		case is("Spillway-Shadow"):
			resp.shadow = append(resp.shadow[:0], value[:min(len(value), maxLabel)]...)
		}
	case 'r':
		switch {
		case is("Retry-After"):
			resp.retryAfter = append(resp.retryAfter[:0], value[:min(len(value), maxLabel)]...)
		case is("Retry-After-Ms"):
			resp.retryAfterMs = append(resp.retryAfterMs[:0], value[:min(len(value), maxLabel)]...)
		}
	case 'x':
		if is("X-Should-Retry") {
			resp.neverRetry = bytes.EqualFold(value, []byte("false"))
		}
	}
	return nil
}

func parseLength(digits []byte) (int64, error) {
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, errMalformed
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) == 0 {
		return 0, errMalformed
	}
	return n, nil
}

func (b body) discard(r *bufio.Reader, resp *response) error {
	var err error
	switch {
	case b.chunked && b.length >= 0:
		return malformed("both Content-Length and", []byte("chunked")) // smuggling's favourite
	case b.chunked:
		resp.body, err = resp.discardChunks(r)
	case b.length >= 0:
		resp.body, err = resp.discard(r, b.length)
	default:
		resp.reuse = false
		return resp.discardAll(r)
	}
	return unexpected(err)
}

func (resp *response) discardChunks(r *bufio.Reader) (total int64, err error) {
	for {
		left := maxHead
		line, err := readLine(r, &left)
		if err != nil {
			return total, err
		}
		size, err := chunkSize(line)
		if err != nil {
			return total, err
		}
		if size == 0 {
			break
		}
		n, err := resp.discard(r, size)
		total += n
		if err != nil {
			return total, err
		}
		if line, err = readLine(r, &left); err != nil {
			return total, err
		}
		if len(line) > 0 {
			return total, malformed("chunk's end", line)
		}
	}
	for left := maxHead; ; { // trailers
		line, err := readLine(r, &left)
		if err != nil || len(line) == 0 {
			return total, err
		}
	}
}

func chunkSize(line []byte) (int64, error) {
	digits, _, _ := bytes.Cut(line, []byte{';'})
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 {
		return 0, malformed("chunk size", line)
	}
	n := int64(0)
	for _, c := range digits {
		switch lower := c | 0x20; {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case lower >= 'a' && lower <= 'f':
			n = n<<4 | int64(lower-'a'+10)
		default:
			return 0, malformed("chunk size", line)
		}
	}
	return n, nil
}

// discard is bufio.Reader.Discard for any length, but for what is to be kept.
func (resp *response) discard(r *bufio.Reader, n int64) (int64, error) {
	done := int64(0)
	if want := int(min(n, int64(resp.keep-len(resp.kept)))); want > 0 {
		at := len(resp.kept)
		resp.kept = append(resp.kept, make([]byte, want)...)
		got, err := io.ReadFull(r, resp.kept[at:])
		resp.kept, done = resp.kept[:at+got], int64(got)
		if err != nil {
			return done, err
		}
	}
	for done < n {
		d, err := r.Discard(int(min(n-done, 1<<30)))
		done += int64(d)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// discardAll reads to the end, and keeps of it what is to be kept.
func (resp *response) discardAll(r io.Reader) (err error) {
	kept := bytes.NewBuffer(resp.kept)
	_, err = kept.ReadFrom(io.LimitReader(r, int64(resp.keep)))
	if resp.kept = kept.Bytes(); err != nil {
		return err
	}
	rest, err := io.Copy(io.Discard, r)
	resp.body = int64(len(resp.kept)) + rest
	return err
}

// readLine returns a line without its end, valid until the next read, and takes
// its length off left.
func readLine(r *bufio.Reader, left *int) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	*left -= len(line)
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || err == nil && *left < 0:
		return nil, malformed("a header too long,", line)
	case err != nil && len(line) > 0:
		return nil, unexpected(err)
	case err != nil:
		return nil, err
	}
	line = line[:len(line)-1]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
