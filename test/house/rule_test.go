package house_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/test/house"
)

// Every case is a tree of a few lines that breaks one rule, beside its likeness
// that keeps it. A case names the file and line of each finding it expects;
// none means that the rule must let it pass.
type ruleCase struct {
	name  string
	rule  string
	files map[string]string
	want  []string // "file:line" or "file"
}

// one makes a tree of a single file.
func one(name, src string) map[string]string { return map[string]string{name: src} }

// tests of each rule are in arrows_test.go, purity_test.go and style_test.go.
func run(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			tree := parse(t, c.files, nil)
			i := slices.IndexFunc(house.Rules(), func(r house.Rule) bool { return r.Name == c.rule })
			if i < 0 {
				t.Fatalf("no rule %q", c.rule)
			}
			var got []string
			for _, finding := range house.Rules()[i].Check(tree) {
				place, _, _ := strings.Cut(finding.String(), ": ")
				got = append(got, place)
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(c.want)); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if c.rule != "compiles" {
				for _, finding := range compilesRule().Check(tree) {
					t.Errorf("the case itself does not compile: %v", finding)
				}
			}
		})
	}
}

func compilesRule() house.Rule {
	rules := house.Rules()
	return rules[slices.IndexFunc(rules, func(r house.Rule) bool { return r.Name == "compiles" })]
}

func parse(t *testing.T, files map[string]string, nested map[string]bool) *house.Tree {
	t.Helper()
	sources := map[string][]byte{}
	for name, src := range files {
		sources[name] = []byte(src)
	}
	tree, err := house.Parse(sources, nested)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestEveryRuleIsTested fails when a rule has no case that it finds.
func TestEveryRuleIsTested(t *testing.T) {
	for _, rule := range house.Rules() {
		bites := slices.ContainsFunc(slices.Concat(arrowCases, purityCases, styleCases), func(c ruleCase) bool {
			return c.rule == rule.Name && len(c.want) > 0
		})
		if !bites {
			t.Errorf("rule %q has no case that breaks it", rule.Name)
		}
	}
}

func TestExcuse(t *testing.T) {
	found := []house.Finding{{Rule: "sleep", File: "a_test.go", Line: 3, What: "x"}, {Rule: "sleep", File: "b_test.go", Line: 4, What: "x"}}
	for _, c := range []struct {
		name       string
		exceptions []house.Exception
		want       int
	}{
		{"none", nil, 2},
		{"one file is excused", []house.Exception{{Rule: "sleep", File: "a_test.go", Why: "measures the kernel's timer"}}, 1},
		{"another rule excuses nothing and is a finding", []house.Exception{{Rule: "length", File: "a_test.go", Why: "w"}}, 3},
		{"no reason, no excuse", []house.Exception{{Rule: "sleep", File: "a_test.go"}}, 3},
	} {
		if got := house.Excuse(found, c.exceptions); len(got) != c.want {
			t.Errorf("%s: %d findings, want %d: %v", c.name, len(got), c.want, got)
		}
	}
}
