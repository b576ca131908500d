package provider

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/spillway-dev/spillway/provider/scan"
	"github.com/spillway-dev/spillway/provider/sse"
)

// Answer watches an answer as it passes. It is for one goroutine.
type Answer struct {
	call  *Call
	heard Heard
	// What it is: a stream of events, a document, or something that is not read.
	stream, document bool
	asked            bool // the caller sees what it is told of usage
	opaque           bool // something in it could not be read

	frames  sse.Splitter
	picker  scan.Picker
	out     []byte
	scratch []byte
	bytes   int64 // of a body that is not read
}

// pickedMost is how much of one member of a document is kept: of one that is longer
// only its length is known. Usage is far shorter; the text of an answer may not be.
const pickedMost = 256 << 10

// Answer returns what watches the answer with that status, which is a success, and
// header.
func (c *Call) Answer(h http.Header) *Answer {
	a := &Answer{call: c, asked: c.Plain == nil}
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") || c.Dialect == nil {
		return a
	}
	switch {
	case kind == "text/event-stream":
		a.stream = true
	case kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "":
		a.document = true
		a.picker = scan.Picker{Keys: c.Dialect.Keys(), Most: pickedMost}
	}
	return a
}

// Changes reports whether the caller may see less than came, so that the answer's
// length is not known.
func (a *Answer) Changes() bool { return a.stream }

// Pass takes the next piece of the body and returns what the caller is to see now,
// which is valid until the next call. A frame of a stream is held back until it is
// whole: it may turn out to be one that is not to be seen, or one that breaks off.
func (a *Answer) Pass(p []byte) []byte {
	switch {
	case a.document:
		a.picker.Write(p)
		return p
	case !a.stream:
		a.bytes += int64(len(p))
		return p
	}
	a.out = a.out[:0]
	a.frames.Feed(p, func(f sse.Frame) {
		if data := a.frame(&f); data != nil {
			a.out = append(a.out, data...)
		}
	})
	return a.out
}

// frame reads a frame and returns it as the caller is to see it.
func (a *Answer) frame(f *sse.Frame) []byte {
	if f.Opaque {
		a.opaque = true
		a.heard.beyond += int64(len(f.Raw))
		return f.Raw
	}
	event, data, scratch := f.Event(a.scratch)
	a.scratch = scratch
	if len(data) == 0 && event == "" {
		return f.Raw
	}
	shown := a.call.Dialect.Event(&a.heard, event, data, a.asked)
	switch {
	case shown == nil:
		return nil
	case len(shown) == len(data):
		return f.Raw
	}
	return again(event, shown)
}

// again is a frame with other data.
func again(event string, data []byte) []byte {
	b := make([]byte, 0, len(event)+len(data)+32)
	if event != "" {
		b = append(append(append(b, "event: "...), event...), '\n')
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return append(b, '\n')
}

// Rest returns what was held back, when the body has come to its end.
func (a *Answer) Rest() []byte {
	f := a.frames.Rest()
	return f.Raw
}

// Whole reports whether the answer has said that it is over, or failed.
func (a *Answer) Whole() bool {
	return a.stream && (a.heard.Last || a.heard.Failed) || a.document && a.picker.Whole()
}

// Failure returns the frame that tells the caller that a stream has broken off, nil if
// nothing need be told. The frame that it broke off in is not shown.
func (a *Answer) Failure() []byte {
	if !a.stream || a.heard.Last || a.heard.Failed {
		return nil
	}
	frame := a.call.Dialect.Failure("the answer broke off: the service behind the gateway ended it before it was whole")
	if a.frames.Through() {
		frame = append([]byte("\n\n"), frame...)
	}
	return frame
}

// End says how the body came to its end, and returns what the call has used.
type End uint8

// The ends.
const (
	AtEnd   End = iota // its end came
	Broke              // the service broke it off
	CutByUs            // the caller left, or its time was over, and we have cut it off
)

// End returns what the call has used, of which no more will be heard.
func (a *Answer) End(end End) Settled {
	if a.document {
		a.call.Dialect.Document(&a.heard, a.member)
	}
	s := a.settle(end)
	s.Failed, s.Code = a.heard.Failed, a.heard.Code
	if end == Broke && !a.Whole() || a.stream && end == AtEnd && a.call.Dialect.Ends() && !a.heard.Last {
		s.Failed = true
	}
	return s
}

func (a *Answer) member(key string) []byte {
	v, ok, lost := a.picker.Value(key)
	if lost {
		a.opaque = true
	}
	if !ok {
		return nil
	}
	return v
}

func (a *Answer) settle(end End) Settled {
	u := &a.heard.Usage
	switch {
	case u.Input.Said && u.Output.Said && a.final():
		return a.call.settled(Reported, u.Input.N, u.Output.N)
	case end == Broke && !a.Whole():
		return a.call.settled(Unknown, a.input(), a.output())
	case !a.stream && !a.document, a.document && !a.picker.Whole():
		// It cannot be read, or was not to its end. It had been made by then.
		return a.call.settled(Counted, a.input(), max(a.output(), a.call.Output))
	}
	return a.call.settled(Counted, a.input(), a.output())
}

// final reports whether what was said of usage is the last word: figures grow within an
// answer, and the first of them stand for nothing.
func (a *Answer) final() bool {
	if a.document {
		return a.picker.Whole()
	}
	return a.heard.Last
}

// input is what was said of it, else what was counted before.
func (a *Answer) input() int64 {
	if a.heard.Usage.Input.Said {
		return a.heard.Usage.Input.N
	}
	return a.call.Input
}

// output is the larger of what was said of it and of what was counted, where it has
// not been said to the end.
func (a *Answer) output() int64 {
	n := a.heard.count(a.call.Encoding)
	if a.document && a.opaque {
		n = max(n, a.call.Output)
	}
	if u := a.heard.Usage.Output; u.Said {
		n = max(n, u.N)
	}
	return n
}
