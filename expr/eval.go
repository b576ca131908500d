//go:build !nocel

package expr

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Bool evaluates a [Condition]. The error is of this one request: what the expression
// cannot do with what is in it.
func (p *Program) Bool(r Request) (bool, error) {
	out, _, err := p.program.Eval(newScope(r))
	if err != nil {
		return false, err
	}
	return out == types.True, nil
}

// Number evaluates a [Gap]. It may give anything, NaN included.
func (p *Program) Number(r Request) (float64, error) {
	out, _, err := p.program.Eval(newScope(r))
	if err != nil {
		return 0, err
	}
	switch v := out.(type) {
	case types.Double:
		return float64(v), nil
	case types.Int:
		return float64(v), nil
	case types.Uint:
		return float64(v), nil
	}
	return 0, fmt.Errorf("it gave %s", out.Type().TypeName())
}

// Text evaluates a [Key].
func (p *Program) Text(r Request) (string, error) {
	out, _, err := p.program.Eval(newScope(r))
	if err != nil {
		return "", err
	}
	s, _ := out.(types.String)
	return string(s), nil
}

// scope is one evaluation's view of a request.
type scope struct {
	Request
	query, headers fields
}

func newScope(r Request) *scope {
	s := &scope{Request: r}
	s.query.of, s.headers.of, s.headers.header = r, r, true
	return s
}

// ResolveName implements interpreter.Activation.
func (s *scope) ResolveName(name string) (any, bool) {
	switch name {
	case "query":
		return &s.query, true
	case "headers":
		return &s.headers, true
	case "size":
		return types.Int(s.Size()), true
	case "method":
		return text(s.Method()), true
	case "host":
		return text(s.Host()), true
	case "path":
		return text(s.Path()), true
	case "class":
		return text(s.Class()), true
	case "tenant":
		return text(s.Tenant()), true
	case "session":
		return text(s.Session()), true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (s *scope) Parent() interpreter.Activation { return nil }

func text(s string) types.String { return types.String(cut(s)) }

// fields is the query or the headers, asked name by name. What is not there is "": an
// expression need not say of each name what holds without it.
type fields struct {
	of     Request
	header bool
}

func (f *fields) find(name ref.Val) (string, bool) {
	s, _ := name.(types.String)
	if f.header {
		return f.of.Header(string(s))
	}
	return f.of.Query(string(s))
}

// Get implements traits.Indexer.
func (f *fields) Get(name ref.Val) ref.Val {
	s, _ := f.find(name)
	return text(s)
}

// IsSet implements traits.FieldTester.
func (f *fields) IsSet(name ref.Val) ref.Val { return f.Contains(name) }

// Contains implements traits.Container.
func (f *fields) Contains(name ref.Val) ref.Val {
	_, ok := f.find(name)
	return types.Bool(ok)
}

// Type implements ref.Val.
func (f *fields) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (f *fields) Value() any { return f }

// Equal implements ref.Val. No expression compares them.
func (f *fields) Equal(other ref.Val) ref.Val { return types.Bool(other == ref.Val(f)) }

// ConvertToType implements ref.Val.
func (f *fields) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("a request's fields are not %s", t.TypeName())
}

// ConvertToNative implements ref.Val.
func (f *fields) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a request's fields are not %v", t)
}
