//go:build nocel

package expr

import "errors"

// Program is an expression, which this build does not know.
type Program struct{}

var errNone = errors.New("this build knows no expressions")

// Compile refuses every text.
func Compile(Kind, string) (*Program, error) {
	return nil, &Problem{What: "is an expression, and this build knows none (it was built with the tag nocel)", Fix: "use the command spillway, or write it without"}
}

// Asks is false.
func (*Program) Asks(string) bool { return false }

// Bool gives an error.
func (*Program) Bool(Request) (bool, error) { return false, errNone }

// Number gives an error.
func (*Program) Number(Request) (float64, error) { return 0, errNone }

// Text gives an error.
func (*Program) Text(Request) (string, error) { return "", errNone }
