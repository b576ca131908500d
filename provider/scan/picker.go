package scan

import "bytes"

// Picker takes members out of an object that comes in pieces, of any length, without
// keeping the rest. The zero Picker takes none; set Keys. It is for one goroutine.
type Picker struct {
	// Keys are those of the members that are wanted, at most 64 bytes each, without
	// escapes.
	Keys []string
	// Most is how much of a value is kept, in bytes. A longer one is lost.
	Most int

	got  []picked
	key  []byte // that is being read
	at   int    // index of the value that is being kept; -1: none is
	deep int
	state
	ended bool
}

type picked struct {
	value []byte
	there bool
	lost  bool
}

type state uint8

const (
	outside  state = iota // before the object, or after it
	wantKey               // a key may come
	inKey                 // within it
	keyEsc                // after a backslash in it
	wantsVal              // after it
	inVal                 // in a value, outside its strings
	inStr                 // in one of its strings
	strEsc                // after a backslash in that
)

const keyMost = 64

// Write takes the next piece. It never fails.
func (p *Picker) Write(b []byte) (int, error) {
	n := len(b)
	if p.got == nil {
		p.got, p.at = make([]picked, len(p.Keys)), -1
	}
	for i := 0; i < len(b) && !p.ended; {
		i += p.step(b[i:])
	}
	return n, nil
}

// Value returns what the last member of that key holds, as it stands, and whether
// there was one that is whole. lost is whether it was too long to be kept.
func (p *Picker) Value(key string) (value []byte, ok, lost bool) {
	for i, k := range p.Keys {
		if k == key && i < len(p.got) {
			g := &p.got[i]
			return bytes.TrimSpace(g.value), g.there && !g.lost, g.lost
		}
	}
	return nil, false, false
}

// Whole reports whether an object has come to its end.
func (p *Picker) Whole() bool { return p.ended && p.state != outside }

// step takes what is next and returns how much of it that was.
func (p *Picker) step(b []byte) int {
	switch c := b[0]; p.state {
	case outside:
		if c == '{' {
			p.state = wantKey
		} else if c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0xEF && c != 0xBB && c != 0xBF {
			p.ended = true // it is no object
		}
	case wantKey:
		switch c {
		case '"':
			p.state, p.key = inKey, p.key[:0]
		case '}':
			p.ended = true
		}
	case inKey:
		switch {
		case c == '"':
			p.state = wantsVal
		case c == '\\':
			p.state = keyEsc
			p.grow(c)
		default:
			p.grow(c)
		}
	case keyEsc:
		p.state = inKey
		p.grow(c)
	case wantsVal:
		if c == ':' {
			p.state = inVal
			p.begin()
		}
	case inVal:
		return p.within(b)
	case inStr:
		n := bytes.IndexAny(b, "\"\\")
		if n < 0 {
			p.keep(b)
			return len(b)
		}
		p.state = inVal
		if b[n] == '\\' {
			p.state = strEsc
		}
		p.keep(b[:n+1])
		return n + 1
	case strEsc:
		p.state = inStr
		p.keep(b[:1])
	}
	return 1
}

// within takes a byte of a value.
func (p *Picker) within(b []byte) int {
	switch b[0] {
	case '"':
		p.state = inStr
	case '{', '[':
		p.deep++
	case ']', '}':
		if p.deep == 0 {
			p.finish()
			p.ended = true
			return 1
		}
		p.deep--
	case ',':
		if p.deep == 0 {
			p.finish()
			p.state = wantKey
			return 1
		}
	}
	p.keep(b[:1])
	return 1
}

func (p *Picker) grow(c byte) {
	if len(p.key) <= keyMost {
		p.key = append(p.key, c)
	}
}

// begin begins a value: kept if its key is wanted.
func (p *Picker) begin() {
	p.at = -1
	key := p.key
	if bytes.IndexByte(key, '\\') >= 0 {
		key = plain(key)
	}
	for i, k := range p.Keys {
		if k == string(key) {
			p.at = i
			p.got[i] = picked{value: p.got[i].value[:0]}
		}
	}
}

func (p *Picker) finish() {
	if p.at >= 0 {
		p.got[p.at].there = true
	}
	p.at = -1
}

func (p *Picker) keep(b []byte) {
	if p.at < 0 {
		return
	}
	g := &p.got[p.at]
	if g.lost = g.lost || len(g.value)+len(b) > p.Most; g.lost {
		g.value = g.value[:0]
		return
	}
	g.value = append(g.value, b...)
}
