package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Magic is what a recording begins with.
const Magic = "SPILLREC"

const (
	version = 1

	kindHeader   = 'H'
	kindNames    = 'N'
	kindRequests = 'R'

	headSize     = 17
	payloadMost  = 1 << 20
	blockSize    = 64 << 10 // a block is ended once it is that long
	requestLeast = 4        // bytes of the shortest request
	requestMost  = 1 + 10 + 5 + 1 + 8*10 + 2*8
)

var (
	marker     = [4]byte{0xf5, 'B', 'L', 'K'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// The optional values of a request, by their bit.
const (
	hasWait = 1 << iota
	hasService
	hasAllowed
	hasTenant
	hasSession
	hasCost
	hasImportance
	hasBytes
)

// block is one being filled.
type block struct {
	buf   []byte // head and payload
	count uint32
	last  time.Duration
	seen  map[uint64]uint64 // hashes shown in this block, numbered from 1
}

func (b *block) begin(lost uint64) {
	b.buf = append(b.buf[:0], make([]byte, headSize)...)
	b.buf = binary.AppendUvarint(b.buf, lost)
	b.count, b.last = 0, 0
	if b.seen == nil {
		b.seen = make(map[uint64]uint64)
	}
	clear(b.seen)
}

func (b *block) add(q *Request) {
	flags := byte(0)
	set := func(bit byte, there bool) {
		if there {
			flags |= bit
		}
	}
	set(hasWait, q.Wait > 0)
	set(hasService, q.Service > 0)
	set(hasAllowed, q.Allowed > 0)
	set(hasTenant, q.Tenant != 0)
	set(hasSession, q.Session != 0)
	set(hasCost, q.Cost > 1)
	set(hasImportance, q.Importance > 0)
	set(hasBytes, q.Bytes > 0)
	b.buf = append(b.buf, flags)
	b.buf = binary.AppendVarint(b.buf, int64(q.Arrival-b.last))
	b.last = q.Arrival
	b.buf = binary.AppendUvarint(b.buf, uint64(max(q.Class, 0)))
	b.buf = append(b.buf, q.Outcome)
	for bit, value := range [...]uint64{
		uint64(q.Wait), uint64(q.Service), uint64(q.Allowed), q.Tenant, q.Session,
		uint64(q.Cost), uint64(q.Importance), uint64(q.Bytes),
	} {
		switch {
		case flags&(1<<bit) == 0:
		case 1<<bit&(hasTenant|hasSession) != 0:
			b.hash(value)
		default:
			b.buf = binary.AppendUvarint(b.buf, value)
		}
	}
	b.count++
}

func (b *block) hash(h uint64) {
	n, known := b.seen[h]
	b.buf = binary.AppendUvarint(b.buf, n)
	if !known {
		b.seen[h] = uint64(len(b.seen) + 1)
		b.buf = binary.LittleEndian.AppendUint64(b.buf, h)
	}
}

func (b *block) full() bool { return len(b.buf) >= blockSize }

// end returns the block's bytes, valid until the next begin.
func (b *block) end() []byte { return seal(b.buf, kindRequests, b.count) }

// seal fills in the head that buf was begun with.
func seal(buf []byte, kind byte, count uint32) []byte {
	copy(buf, marker[:])
	buf[4] = kind
	binary.LittleEndian.PutUint32(buf[5:], uint32(len(buf)-headSize))
	binary.LittleEndian.PutUint32(buf[9:], count)
	binary.LittleEndian.PutUint32(buf[13:], check(buf[:headSize], buf[headSize:]))
	return buf
}

func check(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[4:13], castagnoli), castagnoli, payload)
}

// described returns h as a block.
func described(kind byte, h *Header) []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic("BUG: " + err.Error()) // strings and numbers
	}
	return seal(append(make([]byte, headSize), text...), kind, 0)
}

// payload reads the requests of a block one after the other.
type payload struct {
	rest  []byte
	count uint32 // left
	last  time.Duration
	seen  []uint64
}

var errPayload = errors.New("its requests make no sense")

func (p *payload) begin(data []byte, count uint32) (lost uint64, err error) {
	lost, n := binary.Uvarint(data)
	if n <= 0 || uint64(count)*requestLeast > uint64(len(data)-n) {
		return 0, errPayload
	}
	p.rest, p.count, p.last, p.seen = data[n:], count, 0, p.seen[:0]
	return lost, nil
}

// next reads the next request, which is there if count is not 0.
func (p *payload) next(q *Request) error {
	p.count--
	flags, ok := p.byte()
	delta, n := binary.Varint(p.rest)
	if !ok || n <= 0 {
		return errPayload
	}
	p.rest = p.rest[n:]
	p.last += time.Duration(delta)
	class, ok := p.uvarint()
	outcome, there := p.byte()
	if !ok || !there || class > 1<<20 || p.last < 0 {
		return errPayload
	}
	*q = Request{Arrival: p.last, Class: int32(class), Outcome: outcome, Cost: 1}
	for bit := range 8 {
		if flags&(1<<bit) == 0 {
			continue
		}
		var value uint64
		if 1<<bit&(hasTenant|hasSession) != 0 {
			value, ok = p.hash()
		} else if value, ok = p.uvarint(); value > 1<<62 {
			ok = false
		}
		if !ok {
			return errPayload
		}
		q.put(bit, value)
	}
	if p.count == 0 && len(p.rest) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", errPayload, len(p.rest))
	}
	return nil
}

func (q *Request) put(bit int, value uint64) {
	switch 1 << bit {
	case hasWait:
		q.Wait = time.Duration(value)
	case hasService:
		q.Service = time.Duration(value)
	case hasAllowed:
		q.Allowed = time.Duration(value)
	case hasTenant:
		q.Tenant = value
	case hasSession:
		q.Session = value
	case hasCost:
		q.Cost = int64(value)
	case hasImportance:
		q.Importance = int32(min(value, 1<<30))
	case hasBytes:
		q.Bytes = int64(value)
	}
}

func (p *payload) byte() (byte, bool) {
	if len(p.rest) == 0 {
		return 0, false
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c, true
}

func (p *payload) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 {
		return 0, false
	}
	p.rest = p.rest[n:]
	return v, true
}

func (p *payload) hash() (uint64, bool) {
	n, ok := p.uvarint()
	switch {
	case !ok || n > uint64(len(p.seen)):
		return 0, false
	case n > 0:
		return p.seen[n-1], true
	case len(p.rest) < 8:
		return 0, false
	}
	h := binary.LittleEndian.Uint64(p.rest)
	p.rest = p.rest[8:]
	p.seen = append(p.seen, h)
	return h, true
}
