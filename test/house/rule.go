package house

import (
	"cmp"
	"fmt"
	"slices"
)

// A Finding is one place that breaks a rule.
type Finding struct {
	Rule string // name of the rule
	File string // path relative to the module, with slashes
	Line int    // 1-based; 0 for the whole file
	What string // what is wrong and what would be right, one line
}

// String renders the finding as editors and terminals link it.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s [%s]", f.File, f.What, f.Rule)
	}
	return fmt.Sprintf("%s:%d: %s [%s]", f.File, f.Line, f.What, f.Rule)
}

// A Rule reads a tree and returns what breaks it.
type Rule struct {
	Name  string // short, as written in findings and in the ratchet
	Why   string // what goes wrong where the rule is broken
	Check func(*Tree) []Finding
}

// Rules lists every rule over Go code, in the order of docs/house.md.
func Rules() []Rule {
	return []Rule{
		{"arrows", "data flows down; a decision that knows its driver cannot be simulated", arrows},
		{"compiles", "the rules below need types", compiles},
		{"pure-imports", "policy/ computes; what reaches outside is the driver's", pureImports},
		{"pure-syntax", "policy/ has no concurrency of its own; one owner drives it", pureSyntax},
		{"clock", "time is an argument, or live and simulated runs differ", clocks},
		{"chance", "one seed must give the same bytes everywhere", chance},
		{"math", "bits of these functions differ between processors", inexactMath},
		{"products", "a processor may fuse a*b + c and round once instead of twice", products},
		{"map-order", "nothing ranges over a map to decide", mapOrder},
		{"state", "state lives in values with one owner, never in a package", packageState},
		{"one-build", "the same policy runs on every machine", oneBuild},
		{"length", "one idea a file", length},
		{"package-doc", "a newcomer starts at doc.go", packageDoc},
		{"unfinished", "what is not done is an issue, not a comment", unfinished},
		{"sleep", "a test that sleeps is slow when it passes and flaky when it fails", sleeps},
		{"exported-doc", "an exported name is a promise, and a promise is written down", exportedDoc},
	}
}

// sortFindings orders findings by file, line and text, so that output is stable.
func sortFindings(fs []Finding) []Finding {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return fs
}
