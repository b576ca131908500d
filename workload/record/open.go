package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Recording reads all files of one run that are there, oldest first: Path and,
// before it, what was moved aside to Path.1 and so on by the same run. A file
// named by its number is read alone. Gzip is recognised.
type Recording struct {
	paths   []string // still to be read, oldest first
	current *Reader
	file    io.Closer
	header  Header
	before  Summary // of the files that are done
	err     error
}

// Open opens a recording by its path.
func Open(path string) (*Recording, error) {
	header, err := headerOf(path)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	r := &Recording{paths: []string{path}, header: *header}
	for i := 1; i < KeepMost; i++ {
		older := fmt.Sprintf("%s.%d", path, i)
		h, err := headerOf(older)
		if err != nil || h.Recording != header.Recording {
			break
		}
		r.paths = append([]string{older}, r.paths...)
	}
	return r, r.openNext()
}

func headerOf(path string) (*Header, error) {
	r, f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return r.Header(), f.Close()
}

func openFile(path string) (*Reader, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	in, err := unzipped(f)
	if err == nil {
		var r *Reader
		if r, err = NewReader(in); err == nil {
			return r, f, nil
		}
	}
	f.Close()
	return nil, nil, err
}

func unzipped(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

func (r *Recording) openNext() (err error) {
	path := r.paths[0]
	r.paths = r.paths[1:]
	if r.current, r.file, err = openFile(path); err != nil {
		return fmt.Errorf("recording %s: %w", path, err)
	}
	r.header.Classes = r.current.Header().Classes
	return nil
}

// Next reads the next request. It returns false at the end.
func (r *Recording) Next(q *Request) bool {
	for r.current != nil {
		if r.current.Next(q) {
			return true
		}
		r.err = r.current.Err()
		r.before = r.Stats()
		r.file.Close()
		r.current = nil
		if r.err == nil && len(r.paths) > 0 {
			r.err = r.openNext()
		}
	}
	return false
}

// Header returns what the file being read says of the recording.
func (r *Recording) Header() *Header {
	if r.current != nil {
		return r.current.Header()
	}
	return &r.header
}

// Files returns how many files are still to be read, the current one included.
func (r *Recording) Files() int {
	if r.current == nil {
		return 0
	}
	return len(r.paths) + 1
}

// Stats returns what was met so far, in all files.
func (r *Recording) Stats() Summary {
	s := r.before
	if r.current != nil {
		now := r.current.Stats()
		s.Requests += now.Requests
		s.Lost += now.Lost
		s.Damaged += now.Damaged
		s.First = append(s.First[:len(s.First):len(s.First)], now.First...)
		s.First = s.First[:min(len(s.First), damageKept)]
	}
	return s
}

// Err returns why reading ended early, or nil: damage is no error.
func (r *Recording) Err() error { return r.err }

// Close closes what is open.
func (r *Recording) Close() error {
	if r.current == nil {
		return nil
	}
	r.current = nil
	if err := r.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
