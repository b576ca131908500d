//go:build !nocel

package expr

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"
)

// languages are what expressions of each kind may say, made when the first is asked
// for: a program without expressions pays nothing.
var languages = [...]func() (*cel.Env, error){
	Condition: sync.OnceValues(func() (*cel.Env, error) { return language(Condition) }),
	Gap:       sync.OnceValues(func() (*cel.Env, error) { return language(Gap) }),
	Key:       sync.OnceValues(func() (*cel.Env, error) { return language(Key) }),
}

func language(k Kind) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(LengthMost),
		cel.ParserRecursionLimit(50),
		cel.RegexProgramSizeLimit(1000),
	}
	for _, word := range k.Words() {
		options = append(options, cel.Variable(word, typeOf(word)))
	}
	return cel.NewEnv(options...)
}

func typeOf(word string) *cel.Type {
	switch word {
	case "query", "headers":
		return cel.MapType(cel.StringType, cel.StringType)
	case "size":
		return cel.IntType
	}
	return cel.StringType
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	program cel.Program
	words   map[string]bool // that it asks for
}

// Asks reports whether it asks for a word: whether what it gives may depend on it.
func (p *Program) Asks(word string) bool { return p.words[word] }

// Compile returns the program of an expression. The error is a [*Problem]. It takes
// about a millisecond.
func Compile(k Kind, text string) (*Program, error) {
	if len(text) > LengthMost {
		return nil, &Problem{What: fmt.Sprintf("is longer than %d bytes", LengthMost), Fix: "shorten it"}
	}
	env, err := languages[k]()
	if err != nil {
		return nil, &Problem{What: "cannot be compiled: " + oneLine(err.Error()), Fix: "use a build made for this machine"}
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, problem(k, issues)
	}
	if p := k.fits(checked.OutputType()); p != nil {
		return nil, p
	}
	words, p := bounded(env, checked)
	if p != nil {
		return nil, p
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize),
		cel.OptimizeRegex(interpreter.MatchesRegexOptimization))
	if err != nil {
		return nil, &Problem{What: "is wrong: " + oneLine(err.Error()), Fix: "mend what it names"}
	}
	return &Program{program, words}, nil
}

// problem is the first of what the language finds wrong.
func problem(k Kind, issues *cel.Issues) *Problem {
	first := issues.Errors()[0]
	p := &Problem{Line: first.Location.Line(), Column: first.Location.Column() + 1, What: oneLine(first.Message)}
	p.What = "is wrong: " + strings.ReplaceAll(p.What, " (in container '')", "")
	switch {
	case strings.Contains(p.What, "undeclared reference"):
		p.Fix = "known are " + strings.Join(k.Words(), ", ")
	case strings.Contains(p.What, "'_?_:_'"):
		p.Fix = "both sides of : must be of one type, as in 1.0 and 0.1"
	case strings.Contains(p.What, "no matching overload"):
		p.Fix = "compare and combine what is of one type; double(...) and int(...) make numbers of text"
	default:
		p.Fix = "write a CEL expression, as in size(query.q) >= 4"
	}
	return p
}

func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// fits refuses what an expression of that kind must not give.
func (k Kind) fits(t *cel.Type) *Problem {
	ok, want := false, ""
	switch k {
	case Condition:
		ok, want = t.IsExactType(cel.BoolType), "true or false, as in size(query.q) >= 4"
	case Gap:
		ok = t.IsExactType(cel.DoubleType) || t.IsExactType(cel.IntType) || t.IsExactType(cel.UintType)
		want = "a number, as in size(query.q) >= 4 ? 0.1 : 0.9"
	case Key:
		ok, want = t.IsExactType(cel.StringType), "text, as in query.kind"
	}
	if ok {
		return nil
	}
	return &Problem{What: "gives " + cel.FormatCELType(t), Fix: "write one that gives " + want}
}
