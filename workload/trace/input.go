package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line: what is longer is damaged, and skipped unread.
const maxLine = 1 << 20

// lines reads lines without their ends, and numbers them from 1.
type lines struct {
	r      *bufio.Reader
	long   []byte // a line longer than r's buffer, put together
	number int64
}

// newLines looks for gzip's magic number and a byte order mark.
func newLines(r io.Reader) (*lines, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("looks like gzip but is not: %w", err)
		}
		b = bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := b.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
	}
	return &lines{r: b}, nil
}

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxLine)

// next returns the next line that is not blank, valid until the next call. It
// returns errLongLine for one that is too long, and io.EOF at the end.
func (l *lines) next() ([]byte, error) {
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

func (l *lines) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.r.ReadSlice('\n')
		if len(l.long) <= maxLine {
			l.long = append(l.long, more...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if err == nil && len(l.long) > maxLine {
				err = errLongLine
			}
			return l.long, err
		}
	}
}
