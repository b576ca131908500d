package provider

import (
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider/tokens"
)

// Call is what a request asks for.
type Call struct {
	// Endpoint is which of the API's it goes to: a closed set, "other" for all that is
	// not known, which is charged by its length.
	Endpoint string
	// Model is the one that is asked for, "" for none.
	Model string
	// Input is the tokens of input, as counted, and Output the most tokens of output
	// that it is held for.
	Input, Output int64
	// Guessed says that Input rests on rules: pictures, files, what is kept at the
	// provider, what is too long to be counted.
	Guessed bool
	// Price is that of its model, and Besides what it takes whatever it uses.
	Price   Price
	Besides quota.Amounts
	// Body is what is sent, and Plain the same without what was added to it; nil if
	// nothing was.
	Body, Plain []byte
	// Stream says that a stream was asked for.
	Stream bool

	// Dialect reads its answer; nil: nothing in it is read, and it has used what it
	// was held for.
	Dialect Dialect
	// Encoding is how its text is counted.
	Encoding tokens.Encoding
}

// Amounts is what the call is held for: what it takes at most, as far as can be told.
func (c *Call) Amounts() quota.Amounts { return c.amounts(c.Input, c.Output) }

// Dialect reads one endpoint's answers. It has no state.
type Dialect interface {
	// Event takes a frame of a stream and returns its data as the caller is to see it,
	// nil if it is not to see the frame at all. asked is whether it asked for usage.
	Event(h *Heard, event string, data []byte, asked bool) []byte
	// Keys are the members of a document that Document reads.
	Keys() []string
	// Document takes an answer that is no stream, when all of it has passed.
	Document(h *Heard, member func(key string) []byte)
	// Failure is a frame that tells the caller of a failure in a stream.
	Failure(message string) []byte
	// Ends says that a stream that is whole says so in a frame of its own.
	Ends() bool
}

// Heard is what an answer has said so far.
type Heard struct {
	Usage Usage
	// Last is whether it has said that it is over.
	Last bool
	// Failed is whether it has said that it failed, and Code as what.
	Failed bool
	Code   string

	said   []byte // the model's text as it stands in JSON strings
	beyond int64  // bytes of it that are not kept
}

// saidMost is how much of an answer's text is kept, in bytes: only that of an answer
// that never says what it used is counted.
const saidMost = tokens.VisitMost

// Say takes a piece of what the model says: what stands between the quotes of a JSON
// string.
func (h *Heard) Say(raw []byte) {
	n := min(saidMost-len(h.said), len(raw))
	h.said = append(h.said, raw[:n]...)
	h.beyond += int64(len(raw) - n)
}

// Fail takes that the answer says it failed.
func (h *Heard) Fail(code string) { h.Failed, h.Code = true, name(code) }

// count returns the tokens of what was said.
func (h *Heard) count(e tokens.Encoding) int64 {
	c := e.Count()
	c.JSON(h.said)
	n := c.Total()
	if len(h.said) > 0 {
		n += int64(float64(n)*float64(h.beyond)/float64(len(h.said))) + min(h.beyond, 1)
	}
	return n
}
