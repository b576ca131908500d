package wire

import (
	"errors"
	"io"
	"strings"
)

// Read reads the answer's body. It returns io.EOF together with the last bytes
// where they are known to be the last.
func (c *Conn) Read(p []byte) (n int, err error) {
	switch {
	case c.ended:
		return 0, io.EOF
	case c.body != nil:
		n, err = c.body.Read(p)
		c.ended = err == io.EOF
		return n, err
	case c.chunks != nil:
		n, err = c.chunks.Read(p)
		if err == io.EOF {
			err = c.readTrailer()
		}
		return n, err
	case c.left < 0:
		n, err = c.br.Read(p)
		c.ended = err == io.EOF
		return n, err
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err = c.br.Read(p)
	c.left -= int64(n)
	switch {
	case c.left == 0:
		c.ended = true
		return n, io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Next is Read without a buffer of one's own: the bytes are valid until the next
// call. It is for bodies that are not chunked.
func (c *Conn) Next() ([]byte, error) {
	switch {
	case c.ended:
		return nil, io.EOF
	case c.br.Buffered() == 0:
		if _, err := c.br.Peek(1); err != nil {
			if err == io.EOF && c.left < 0 {
				c.ended = true
				return nil, io.EOF
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	n := c.br.Buffered()
	if c.left >= 0 && int64(n) > c.left {
		n = int(c.left)
	}
	p, _ := c.br.Peek(n)
	c.br.Discard(n)
	if c.left >= 0 {
		if c.left -= int64(n); c.left == 0 {
			c.ended = true
			return p, io.EOF
		}
	}
	return p, nil
}

// Ready reports whether Read or Next need not wait: some of the body has come, or it
// has ended.
func (c *Conn) Ready() bool { return c.ended || c.br.Buffered() > 0 }

// Whole reports whether nothing of the body need be waited for: all of it has come, or
// there is none.
func (c *Conn) Whole() bool {
	return c.ended || !c.Chunked() && c.left >= 0 && int64(c.br.Buffered()) >= c.left
}

// Chunked reports whether the body has to be read with Read.
func (c *Conn) Chunked() bool { return c.chunks != nil || c.body != nil }

// Trailer returns what followed the body.
func (c *Conn) Trailer() []Field { return c.trailer }

var errTrailer = errors.New("wire: the answer's trailer is malformed")

// trailerMost bounds a trailer.
const trailerMost = 8 << 10

// readTrailer reads what follows the last chunk. It returns io.EOF.
func (c *Conn) readTrailer() error {
	size := 0
	for {
		line, err := c.br.ReadSlice('\n')
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if size += len(line); err != nil || size > trailerMost {
			return errTrailer
		}
		text, ok := strings.CutSuffix(string(line), "\r\n")
		if !ok {
			return errTrailer
		}
		if text == "" {
			c.ended = true
			return io.EOF
		}
		name, value, ok := strings.Cut(text, ":")
		value = trim(value)
		if !ok || !token(name) || !clean(value) || len(c.trailer) == fieldsMost {
			return errTrailer
		}
		if !framing(name) {
			c.trailer = append(c.trailer, Field{name, value})
		}
	}
}

// framing reports whether a field may not be in a trailer (RFC 9110, 6.5.1).
func framing(name string) bool {
	f := Field{Name: name}
	return HopByHop(name) || f.Is("Content-Length") || f.Is("Host") || f.Is("Content-Encoding") ||
		f.Is("Content-Type") || f.Is("Content-Range") || f.Is("Set-Cookie") || f.Is("Authorization")
}

// Close ends the call. The connection is kept for another one if the answer was
// read to its end; else it is closed.
func (c *Conn) Close() error {
	if c.closed.Load() {
		return nil
	}
	if c.ended && c.keep && c.br.Buffered() == 0 {
		c.pool.put(c)
		return nil
	}
	c.Cut()
	return nil
}

// Cut closes the connection at once, whatever runs on it.
func (c *Conn) Cut() {
	if !c.closed.Swap(true) {
		c.Conn.Close()
	}
}
