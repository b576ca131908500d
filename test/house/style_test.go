package house_test

import (
	"strings"
	"testing"
)

var styleCases = []ruleCase{
	{"501 lines", "length", one("gate/p.go", "package p\n"+strings.Repeat("\n", 500)), []string{"gate/p.go"}},
	{"500 lines", "length", one("gate/p.go", "package p\n"+strings.Repeat("\n", 499)), nil},

	{"no doc.go", "package-doc", one("gate/p.go", "// Package p is.\npackage p\n"), []string{"gate/p.go"}},
	{"a doc.go that says nothing", "package-doc", one("gate/doc.go", "package p\n"), []string{"gate/doc.go"}},
	{"a doc.go", "package-doc", one("gate/doc.go", "// Package p is.\npackage p\n"), nil},
	{"only tests", "package-doc", one("test/script/p_test.go", "package p\n"), nil},

	{"a comment", "unfinished", one("gate/p.go", "package p\n\n// TO"+"DO: later\n"), []string{"gate/p.go:3"}},
	{"a context", "unfinished", one("gate/p.go", "package p\nimport \"context\"\nvar x = context.TO"+"DO()\n"), []string{"gate/p.go:3"}},
	{"a longer word", "unfinished", one("gate/p.go", "package p\n\n// MasTO"+"DON\n"), nil},

	{"in a test", "sleep", one("gate/p_test.go", "package p\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"), []string{"gate/p_test.go:3"}},
	{"under another name", "sleep", one("gate/p_test.go", "package p\nimport t \"time\"\nfunc f() { t.Sleep(1) }\n"), []string{"gate/p_test.go:3"}},
	{"in a bubble", "sleep", one("gate/p_test.go",
		"package p\nimport (\n\"testing\"\n\"testing/synctest\"\n\"time\"\n)\nfunc f(t *testing.T) {\nsynctest.Test(t, func(t *testing.T) { time.Sleep(1) })\n}\n"), nil},
	{"in a bubble that a helper makes", "sleep", map[string]string{
		"gate/a_test.go": "package p\nimport (\n\"testing\"\n\"testing/synctest\"\n)\nfunc bubble(t *testing.T, f func()) {\nsynctest.Test(t, func(*testing.T) { f() })\n}\n",
		"gate/p_test.go": "package p\nimport \"time\"\nfunc f() { bubble(nil, func() { time.Sleep(1) }) }\n"}, nil},
	{"in a helper that makes none", "sleep",
		one("gate/p_test.go", "package p\nimport \"time\"\nfunc f(g func()) { f(func() { time.Sleep(1) }) }\n"), []string{"gate/p_test.go:3"}},
	{"not in a test", "sleep", one("gate/p.go", "package p\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"), nil},

	{"a function", "exported-doc", one("gate/p.go", "package p\nfunc F() {}\n"), []string{"gate/p.go:2"}},
	{"a method", "exported-doc", one("gate/p.go", "package p\n// T is.\ntype T[K any] int\nfunc (*T[K]) M() {}\n"), []string{"gate/p.go:4"}},
	{"a type, a constant", "exported-doc", one("gate/p.go", "package p\ntype T int\nconst C = 1\n"), []string{"gate/p.go:2", "gate/p.go:3"}},
	{"a type in a commented group", "exported-doc", one("gate/p.go", "package p\n// Types.\ntype (\nT int\n)\n"), []string{"gate/p.go:4"}},
	{"commented", "exported-doc", one("gate/p.go", "package p\n// F does.\nfunc F() {}\n// Kinds.\nconst (\nA = 1\nB = 2\n)\nvar V int // V is.\ntype t int\nfunc (t) M() {}\n"), nil},
}

func TestStyle(t *testing.T) { run(t, styleCases) }
