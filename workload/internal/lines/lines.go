package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Longest bounds a line: what is longer is damaged, and skipped unread.
const Longest = 1 << 20

// peekSize is how much of the beginning can be looked at.
const peekSize = 64 << 10

// ErrLong is returned for a line that is too long.
var ErrLong = fmt.Errorf("the line is longer than %d bytes", Longest)

// Reader reads lines without their ends, and numbers them from 1.
type Reader struct {
	r      *bufio.Reader
	long   []byte // a line longer than r's buffer, put together
	number int64
}

// New looks for gzip's magic number and a byte order mark.
func New(r io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(r, peekSize)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("looks like gzip but is not: %w", err)
		}
		b = bufio.NewReaderSize(z, peekSize)
	}
	if mark, _ := b.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
	}
	return &Reader{r: b}, nil
}

// Rest is what has not been read yet, unzipped.
func (l *Reader) Rest() io.Reader { return l.r }

// Starts reports whether what comes next begins with text.
func (l *Reader) Starts(text string) bool {
	b, _ := l.r.Peek(len(text))
	return string(b) == text
}

// Peek returns up to most of the lines that come next, blank ones left out,
// without reading them. A line that 64 KiB do not hold is not among them.
func (l *Reader) Peek(most int) [][]byte {
	seen, err := l.r.Peek(peekSize)
	var all [][]byte
	for len(seen) > 0 && len(all) < most {
		line, rest, ended := bytes.Cut(seen, []byte{'\n'})
		if !ended && err == nil {
			break // it goes on beyond what was looked at
		}
		if seen, line = rest, bytes.TrimSpace(line); len(line) > 0 {
			all = append(all, line)
		}
	}
	return all
}

// Number is the number of the line that Next returned last.
func (l *Reader) Number() int64 { return l.number }

// Next returns the next line that is not blank, valid until the next call. It
// returns ErrLong for one that is too long, and io.EOF at the end.
func (l *Reader) Next() ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return nil, err
		}
		l.number++
		if errors.Is(err, bufio.ErrBufferFull) {
			if line, err = l.rest(line); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
		} else if err != nil && !errors.Is(err, io.EOF) {
			return nil, err // a torn line of a broken file
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *Reader) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.r.ReadSlice('\n')
		if len(l.long) <= Longest {
			l.long = append(l.long, more...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if err == nil && len(l.long) > Longest {
				err = ErrLong
			}
			return l.long, err
		}
	}
}
