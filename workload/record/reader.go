package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Bounds of what a header may name.
const (
	namesMost  = 4096
	nameMost   = 256
	knownMost  = 100_000
	damageKept = 5      // places that are named
	damageMost = 10_000 // places after which a file is not worth it
	peekSize   = 64 << 10
)

// Reader reads one file of a recording. It is not safe for concurrent use.
type Reader struct {
	r       *bufio.Reader
	back    *putBack
	offset  int64 // of r in the file
	header  Header
	payload payload
	data    []byte
	stats   Summary
	err     error
}

// Summary is what a Reader has met so far.
type Summary struct {
	Requests int64    // read
	Lost     int64    // not recorded: the recorder or its disk could not keep up
	Damaged  int64    // places where blocks could not be read
	First    []Damage // the first few of them
}

// Damage is a place that could not be read.
type Damage struct {
	Offset int64 // in bytes from the start of the file
	Reason string
}

// NewReader reads the header of a recording. What does not begin with Magic is
// an error that says so.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{back: &putBack{r: r}}
	d.r = bufio.NewReaderSize(d.back, peekSize)
	magic, err := d.r.Peek(len(Magic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(magic) != Magic {
		return nil, fmt.Errorf("it is no recording of spillway: it does not begin with %s", Magic)
	}
	d.skip(len(Magic))
	head, err := d.head()
	if err != nil || head.kind != kindHeader {
		return nil, errors.New("the recording's header is torn: nothing of it can be read")
	}
	if err := d.describe(kindHeader); err != nil {
		return nil, err
	}
	return d, nil
}

// Header returns what the file says of itself. Its classes may become more while
// it is read.
func (d *Reader) Header() *Header { return &d.header }

// Stats returns what was met so far.
func (d *Reader) Stats() Summary { return d.stats }

// Err returns why reading ended early, or nil: damage is no error.
func (d *Reader) Err() error { return d.err }

// Next reads the next request. It returns false at the end.
func (d *Reader) Next(q *Request) bool {
	for {
		if d.payload.count > 0 {
			if err := d.payload.next(q); err == nil {
				d.stats.Requests++
				return true
			} else {
				d.damaged(d.offset-int64(len(d.data)), err.Error())
				d.payload.count = 0
			}
		}
		if !d.nextBlock() {
			return false
		}
	}
}

// nextBlock makes the next block of requests the payload.
func (d *Reader) nextBlock() bool {
	for d.err == nil {
		began := d.offset
		head, err := d.head()
		switch {
		case err == io.EOF:
			return false
		case err != nil:
			if !d.resync(began, err) {
				return false
			}
		case head.kind == kindRequests:
			lost, err := d.payload.begin(d.data, head.count)
			if err != nil {
				d.payload.count = 0
				d.damaged(began, err.Error())
				continue
			}
			d.stats.Lost += int64(min(lost, 1<<40))
			return true
		case head.kind == kindNames:
			if err := d.describe(kindNames); err != nil {
				d.damaged(began, err.Error())
			}
		default: // of a later version: not ours to understand
		}
	}
	return false
}

// head is the head of a block whose payload is in data.
type head struct {
	kind  byte
	count uint32
}

var (
	errMarker = errors.New("no block begins here")
	errLength = errors.New("a block says that it is longer than any is")
	errCheck  = errors.New("a block's checksum does not fit")
	errTorn   = errors.New("torn tail: the file ends in the middle of a block, as after a crash")
)

// head reads a whole block. It returns io.EOF at the end of the file, and takes
// nothing of what it cannot read.
func (d *Reader) head() (head, error) {
	raw, err := d.r.Peek(headSize)
	if len(raw) == 0 && errors.Is(err, io.EOF) {
		return head{}, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, d.broken(err)
	}
	if len(raw) < headSize {
		return head{}, errTorn
	}
	if !bytes.Equal(raw[:4], marker[:]) {
		return head{}, errMarker
	}
	n := binary.LittleEndian.Uint32(raw[5:])
	if n > payloadMost {
		return head{}, errLength
	}
	h := head{raw[4], binary.LittleEndian.Uint32(raw[9:])}
	whole := bytes.NewBuffer(d.data[:0])
	first := [headSize]byte(raw)
	d.skip(headSize)
	if _, err := io.CopyN(whole, d.r, int64(n)); err != nil && !errors.Is(err, io.EOF) {
		return head{}, d.broken(err)
	}
	d.data = whole.Bytes()
	d.offset += int64(len(d.data))
	if len(d.data) < int(n) {
		return head{}, errTorn
	}
	if check(first[:], d.data) != binary.LittleEndian.Uint32(first[13:]) {
		return head{}, errCheck
	}
	return h, nil
}

// putBack is a reader to which bytes can be given back.
type putBack struct {
	first []byte
	r     io.Reader
}

func (p *putBack) Read(to []byte) (int, error) {
	if len(p.first) > 0 {
		n := copy(to, p.first)
		p.first = p.first[n:]
		return n, nil
	}
	return p.r.Read(to)
}

// unread gives back the end of data, which was read last.
func (d *Reader) unread(data []byte) {
	buffered, _ := d.r.Peek(d.r.Buffered())
	d.back.first = slices.Concat(data, buffered, d.back.first)
	d.r.Reset(d.back)
	d.offset -= int64(len(data))
}

// resync notes the damage and goes to the next marker: first in what was read
// as a block's payload and may hold the beginning of the next.
func (d *Reader) resync(began int64, why error) bool {
	if d.err != nil {
		return false
	}
	d.damaged(began, why.Error())
	if d.stats.Damaged > damageMost {
		d.err = fmt.Errorf("more than %d places of the recording cannot be read: reading ends", damageMost)
		return false
	}
	if d.offset > began { // the payload was taken, and may hold the next marker
		d.unread(d.data)
	} else {
		d.skip(1)
	}
	for {
		raw, err := d.r.Peek(peekSize)
		if i := bytes.Index(raw, marker[:]); i >= 0 {
			d.skip(i)
			return true
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				d.broken(err)
			}
			return false
		}
		d.skip(len(raw) - len(marker) + 1)
	}
}

func (d *Reader) broken(err error) error {
	d.err = err
	return err
}

func (d *Reader) skip(n int) {
	n, _ = d.r.Discard(n)
	d.offset += int64(n)
}

func (d *Reader) damaged(offset int64, reason string) {
	d.stats.Damaged++
	if len(d.stats.First) < damageKept {
		d.stats.First = append(d.stats.First, Damage{offset, reason})
	}
}

// describe takes a header or names from data.
func (d *Reader) describe(kind byte) error {
	var h Header
	if err := json.Unmarshal(d.data, &h); err != nil {
		return fmt.Errorf("the recording's header is no JSON: %w", err)
	}
	switch {
	case kind == kindHeader && h.Version != version:
		return fmt.Errorf("the recording is of version %d; this program reads version %d", h.Version, version)
	case len(h.Classes) > namesMost || len(h.Outcomes) > 256 || len(h.Known) > knownMost:
		return errors.New("the recording's header names more than any can")
	}
	for _, names := range [][]string{h.Classes, h.Outcomes} {
		for _, name := range names {
			if len(name) > nameMost {
				return errors.New("the recording's header has a name of more than 256 bytes")
			}
		}
	}
	if kind == kindHeader {
		d.header = h
	} else if len(h.Classes) > len(d.header.Classes) {
		d.header.Classes = h.Classes
	}
	return nil
}
