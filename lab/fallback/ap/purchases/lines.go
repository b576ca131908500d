package purchases

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of a file.
const (
	MaxRows      = 5_000_000
	MaxCustomers = 200_000
	maxLine      = 64 << 10
	maxName      = 128     // bytes of a customer's name
	maxFields    = 256     // columns
	maxExpanded  = 4 << 30 // bytes of the text, unzipped
)

// rows splits a text into rows of fields.
type rows struct {
	scan      *bufio.Scanner
	left      *io.LimitedReader
	line      int
	delimiter rune // 0: any number of blanks
	fields    []string
}

// newRows unzips in where it is gzipped.
func newRows(in io.Reader) (*rows, error) {
	head := bufio.NewReaderSize(in, 64<<10)
	in = head
	if magic, _ := head.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(head)
		if err != nil {
			return nil, fmt.Errorf("it begins like a gzipped file, and is none: %w", err)
		}
		in = z
	}
	left := &io.LimitedReader{R: in, N: maxExpanded}
	scan := bufio.NewScanner(left)
	scan.Buffer(make([]byte, 0, 4<<10), maxLine)
	return &rows{scan: scan, left: left}, nil
}

// next returns the fields of the next line that is not blank, or io.EOF. They
// are valid until the next call.
func (r *rows) next() ([]string, error) {
	for r.scan.Scan() {
		r.line++
		text := r.scan.Text()
		if r.line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if strings.IndexByte(text, 0) >= 0 {
			return nil, r.errorf("it holds a NUL: save the file as UTF-8 text")
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if r.line == 1 || r.fields == nil {
			r.delimiter = delimiterOf(text)
		}
		err := r.split(text)
		if err == nil && len(r.fields) > maxFields {
			err = r.errorf("more than %d columns: keep customer, time and amount", maxFields)
		}
		return r.fields, err
	}
	switch err := r.scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		r.line++
		return nil, r.errorf("the line is longer than %d bytes: is this a file of purchases?", maxLine)
	case err != nil:
		r.line++
		return nil, r.errorf("%w", err)
	case r.left.N == 0:
		return nil, r.errorf("the text is longer than %d bytes: cut it", int64(maxExpanded))
	}
	return nil, io.EOF
}

// delimiterOf finds out from the first line what stands between values.
func delimiterOf(text string) rune {
	for _, d := range "\t;," {
		if strings.ContainsRune(text, d) {
			return d
		}
	}
	return 0
}

func (r *rows) split(text string) error {
	r.fields = r.fields[:0]
	switch {
	case r.delimiter == 0:
		r.fields = append(r.fields, strings.Fields(text)...)
		return nil
	case strings.IndexByte(text, '"') >= 0:
		c := csv.NewReader(strings.NewReader(text))
		c.Comma, c.FieldsPerRecord = r.delimiter, -1
		fields, err := c.Read()
		if err != nil {
			return r.errorf("its quotes do not match: a value in quotes ends on its line, and a quote inside is doubled")
		}
		r.fields = append(r.fields, fields...)
		return nil
	}
	for {
		i := strings.IndexRune(text, r.delimiter)
		if i < 0 || len(r.fields) > maxFields {
			r.fields = append(r.fields, strings.TrimSpace(text))
			return nil
		}
		r.fields = append(r.fields, strings.TrimSpace(text[:i]))
		text = text[i+1:]
	}
}

// fault is something wrong at a line.
type fault struct {
	line int
	err  error
}

func (f *fault) Error() string { return fmt.Sprintf("%d: %v", f.line, f.err) }

func (f *fault) Unwrap() error { return f.err }

func (r *rows) errorf(format string, a ...any) error {
	return &fault{max(r.line, 1), fmt.Errorf(format, a...)}
}
