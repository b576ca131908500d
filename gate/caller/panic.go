package caller

import (
	"errors"
	"fmt"
)

// Panic is a panic of an attempt that had a goroutine of its own, as a hedge has, raised
// again where its call was made.
type Panic struct {
	// Value is what the attempt panicked with.
	Value any
	// Stack is where.
	Stack []byte
}

// Error is the value, and the stack on which it was raised.
func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\non the attempt's goroutine:\n%s", p.Value, p.Stack)
}

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// errExited is what an attempt came to that ended its goroutine.
var errExited = errors.New("caller: a hedge ended its goroutine")
