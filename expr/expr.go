package expr

import "fmt"

// Kind is what an expression is for: which words it knows and what it gives.
type Kind int

// The kinds of expressions.
const (
	// Condition gives true or false of a request whose class is not known yet.
	Condition Kind = iota
	// Gap gives a number.
	Gap
	// Key gives text.
	Key
)

// Words returns what an expression of that kind knows of a request.
func (k Kind) Words() []string {
	words := []string{"method", "host", "path", "query", "headers", "size"}
	if k != Condition {
		words = append(words, "class", "tenant", "session")
	}
	return words
}

// Bounds of expressions.
const (
	// LengthMost is how many bytes an expression may have.
	LengthMost = 4 << 10
	// ValueMost is how many bytes of one value of a request an expression sees.
	ValueMost = 2 << 10
	// CostMost is what an expression may cost at most, in CEL's units. The dearest, patterns
	// that look in vain at every byte of a value of ValueMost, take about half a
	// microsecond a unit; usual expressions take less than one in all.
	CostMost = 4_000
)

// Request is what is known of a request. Each is asked for only if the expression
// needs it. A value must stay as it is until the evaluation is over.
type Request interface {
	Method() string
	// Host is in lower case, without port.
	Host() string
	// Path is decoded.
	Path() string
	// Query returns the first value of a parameter, and whether there is one.
	Query(name string) (string, bool)
	// Header returns the first value of a header, by any spelling of its name.
	Header(name string) (string, bool)
	// Size is that of the body in bytes, as declared; -1: it is not.
	Size() int64
	Class() string
	Tenant() string
	Session() string
}

// Problem is why a text is no expression of its kind.
type Problem struct {
	// Line and Column are the place in the text, both from 1; 0: all of it.
	Line, Column int
	What         string
	Fix          string
}

// Error is one line.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.What + "; " + p.Fix
	}
	return fmt.Sprintf("%d:%d: %s; %s", p.Line, p.Column, p.What, p.Fix)
}

func cut(s string) string { return s[:min(len(s), ValueMost)] }
