package house_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/spillway-dev/spillway/test/house"
)

const root = "../.."

// rewrite makes TestPages write the tables instead of comparing them.
var rewrite = flag.Bool("rewrite", false, "write the generated tables of docs/house.md")

//go:generate go test . -run ^TestPages$ -count=1 -args -rewrite

// TestHouse holds this repository to every rule.
func TestHouse(t *testing.T) {
	tree, err := house.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	byRule := map[string][]house.Finding{}
	var found []house.Finding
	for _, rule := range house.Rules() {
		found = append(found, rule.Check(tree)...)
	}
	for _, finding := range house.Excuse(found, house.Exceptions()) {
		byRule[finding.Rule] = append(byRule[finding.Rule], finding)
	}
	for _, rule := range append(house.Rules(), house.Rule{Name: "ratchet", Why: "exceptions only become fewer"}) {
		t.Run(rule.Name, func(t *testing.T) {
			for _, finding := range byRule[rule.Name] {
				t.Error(finding)
			}
			if t.Failed() {
				t.Log("why the rule:", rule.Why)
			}
		})
	}
}

// TestPages compares the tables of docs/house.md with the ones in code.
func TestPages(t *testing.T) {
	const name = root + "/docs/house.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for _, table := range []struct{ mark, text string }{{"rooms", house.RoomTable()}, {"rules", house.RuleTable()}} {
		if want, err = house.Splice(want, table.mark, table.text); err != nil {
			t.Fatalf("docs/house.md: %v", err)
		}
	}
	if want == string(page) {
		return
	}
	if !*rewrite {
		t.Fatal("docs/house.md lags behind test/house: run `make docs` and look at the difference")
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDependencies compares docs/dependencies.md with what is imported.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := house.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range house.CheckDependencies(string(page), house.DirectModules(tree, required(t))) {
		t.Error(finding)
	}
}

// required lists the modules that go.mod names.
func required(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, require := range mod.Require {
		paths = append(paths, require.Path)
	}
	return paths
}
