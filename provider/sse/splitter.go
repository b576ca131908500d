package sse

import "bytes"

// MostDefault is the longest frame that is read where nothing else is said, in
// bytes: as long as a whole answer of a model is likely to be, which some services
// send again in their last frame.
const MostDefault = 1 << 20

// Splitter splits a stream into frames. The zero Splitter is ready for use.
type Splitter struct {
	// Most is the longest frame that is kept; 0: MostDefault.
	Most int

	carry []byte // of a frame that is not whole
	line  int    // length of the line that is being read; 0: at its beginning
	cr    bool   // the last byte was a CR: an LF belongs to it
	over  bool   // the frame is too long and is let through
}

// Frame is a piece of a stream.
type Frame struct {
	// Raw is what came, with the blank line that ends it.
	Raw []byte
	// Opaque says that Raw is a part of a frame that is longer than is kept, or of
	// one that the stream broke off in.
	Opaque bool
}

// Feed takes the next piece and yields the frames that are whole now.
func (s *Splitter) Feed(p []byte, yield func(Frame)) {
	for len(p) > 0 {
		n, whole := s.end(p)
		switch {
		case s.over:
			yield(Frame{Raw: p[:n], Opaque: true})
		case whole && len(s.carry) == 0:
			yield(Frame{Raw: p[:n]})
		default:
			s.carry = append(s.carry, p[:n]...)
			if whole {
				yield(Frame{Raw: s.carry})
			} else if len(s.carry) > s.most() {
				yield(Frame{Raw: s.carry, Opaque: true})
				s.over = true
			}
			if whole || s.over {
				s.carry = s.carry[:0]
			}
		}
		if whole {
			s.over = false
		}
		p = p[n:]
	}
}

// Rest returns what is left of a stream that has ended: what it broke off in.
func (s *Splitter) Rest() Frame {
	f := Frame{Raw: s.carry, Opaque: true}
	s.carry = nil
	return f
}

// Through reports whether the beginning of a frame has been let through whose end has
// not come.
func (s *Splitter) Through() bool { return s.over }

func (s *Splitter) most() int {
	if s.Most > 0 {
		return s.Most
	}
	return MostDefault
}

// end returns how much of p belongs to the frame that is being read, and whether
// that is whole then.
func (s *Splitter) end(p []byte) (n int, whole bool) {
	for n < len(p) {
		if s.cr && p[n] == '\n' {
			s.cr = false
			n++
			if n == len(p) {
				break
			}
		}
		s.cr = false
		i := bytes.IndexAny(p[n:], "\n\r")
		if i < 0 {
			s.line += len(p) - n
			return len(p), false
		}
		s.line += i
		blank := s.line == 0
		s.line, s.cr = 0, p[n+i] == '\r'
		n += i + 1
		if blank {
			// The LF of a last CR LF belongs to this frame, if it has come.
			if s.cr && n < len(p) && p[n] == '\n' {
				n++
				s.cr = false
			}
			return n, true
		}
	}
	return n, false
}

// Event returns the frame's event name ("" for none) and its data: what follows the
// colons of its data lines, joined by line feeds. A frame with one data line is not
// copied; scratch is used for others, and returned as it has grown.
func (f *Frame) Event(scratch []byte) (name string, data, grown []byte) {
	if f.Opaque {
		return "", nil, scratch
	}
	lines := 0
	for rest := f.Raw; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		field, value := cutField(line)
		switch {
		case string(field) == "event":
			name = known(value)
		case string(field) != "data":
		case lines == 0:
			data = value
			lines++
		default:
			if lines++; lines == 2 {
				scratch = append(scratch[:0], data...)
			}
			scratch = append(append(scratch, '\n'), value...)
			data = scratch
		}
	}
	return name, data, scratch
}

// Lines reports how many data lines the frame has.
func (f *Frame) Lines() (n int) {
	for rest := f.Raw; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if field, _ := cutField(line); string(field) == "data" {
			n++
		}
	}
	return n
}

func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexAny(b, "\n\r")
	if i < 0 {
		return b, nil
	}
	line, rest = b[:i], b[i+1:]
	if b[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return line, rest
}

func cutField(line []byte) (field, value []byte) {
	line = bytes.TrimPrefix(line, bom)
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return line, nil
	}
	return line[:i], bytes.TrimPrefix(line[i+1:], space)
}

var (
	bom   = []byte("\xef\xbb\xbf")
	space = []byte(" ")
)

// known returns an event's name without an allocation where it is one that the
// services send in each frame.
func known(name []byte) string {
	switch string(name) {
	case "content_block_delta":
		return "content_block_delta"
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "ping":
		return "ping"
	}
	return string(name)
}
