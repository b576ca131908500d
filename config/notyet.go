package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// notBuilt is a key, or a value of a key, of the format whose capability does not
// exist yet. Each is parsed, is in the schema, and is refused with a line that says
// so. Building a capability means deleting its lines here, and nothing else in this
// package.
type notBuilt struct {
	// path is a key's way from the top; * is any name, a number is an entry of a
	// list, =word a value and =% any percentage.
	path    string
	what    string // the capability, completing "... comes with"
	instead string // what to write today
}

var notYet = []notBuilt{}

// notYet refuses what is not built. value is "" for a key or list entry, else =word.
func (d *decoder) notYet(n *yaml.Node, path, value string) {
	if b := notBuiltAt(path, value); b != nil {
		d.errAt(n, path, b.say(value), b.instead)
	}
}

// notYet refuses the same in a Config made in Go, where it would be ignored without a word.
func (k *checker) notYet(path, value string) bool {
	b := notBuiltAt(path, value)
	if b != nil {
		k.report(path, b.instead, "%s", b.say(value))
	}
	return b != nil
}

func (b *notBuilt) say(value string) string {
	what := "is not built yet"
	if value != "" {
		what = quote(value[1:]) + " is not built yet"
	}
	return what + " (it comes with " + b.what + ")"
}

func notBuiltAt(path, value string) *notBuilt {
	for i, b := range notYet {
		pattern, want, hasValue := strings.Cut(b.path, "=")
		switch {
		case hasValue != (value != "") || !fits(pattern, path):
		case !hasValue || value[1:] == want || want == "%" && strings.HasSuffix(value, "%"):
			return &notYet[i]
		}
	}
	return nil
}

func fits(pattern, path string) bool {
	p, q := strings.Split(pattern, "."), strings.Split(path, ".")
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != "*" && p[i] != q[i] {
			return false
		}
	}
	return true
}
