package house_test

import (
	"testing"

	"github.com/spillway-dev/spillway/test/house"
)

const ourPath = `"github.com/spillway-dev/spillway/`

// imports is a file of package p that imports the named rooms of ours.
func imports(rooms ...string) string {
	src := "package p\n"
	for _, room := range rooms {
		src += "import _ " + ourPath + room + "\"\n"
	}
	return src
}

// pair is a file that imports one room of ours, and that room.
func pair(file, room string) map[string]string {
	return map[string]string{file: imports(room), room + "/x.go": "package x\n"}
}

var arrowCases = []ruleCase{
	{"policy reaches for its driver", "arrows", pair("policy/pool/p.go", "gate"), []string{"policy/pool/p.go:2"}},
	{"a leaf imports a room above", "arrows", pair("policy/fair/p.go", "policy/pool"), []string{"policy/fair/p.go:2"}},
	{"reason is a leaf", "arrows", pair("policy/reason/p.go", "policy/unit"), []string{"policy/reason/p.go:2"}},
	{"boundary stands on all of policy", "arrows", pair("policy/boundary/p.go", "policy/pool"), nil},
	{"gate knows no config", "arrows", pair("gate/p.go", "config"), []string{"gate/p.go:2"}},
	{"gate knows no simulator", "arrows", pair("gate/httpgate/p.go", "sim"), []string{"gate/httpgate/p.go:2"}},
	{"gate's adapters stand on gate", "arrows", pair("gate/httpgate/p.go", "gate"), nil},
	{"sim knows no gate", "arrows", pair("sim/p.go", "gate"), []string{"sim/p.go:2"}},
	{"sim knows no config", "arrows", pair("sim/p.go", "config"), []string{"sim/p.go:2"}},
	{"sim drives policy", "arrows", pair("sim/p.go", "policy/boundary"), nil},
	{"config knows no policy", "arrows", pair("config/p.go", "policy/unit"), []string{"config/p.go:2"}},
	{"config/assemble is the one place", "arrows", pair("config/assemble/p.go", "policy/boundary"), nil},
	{"config does not look up", "arrows", pair("config/p.go", "config/assemble"), nil},
	{"config/assemble knows no gate", "arrows", pair("config/assemble/p.go", "gate"), []string{"config/assemble/p.go:2"}},
	{"workload stands alone", "arrows", pair("workload/p.go", "policy/unit"), []string{"workload/p.go:2"}},
	{"report knows reasons only", "arrows", pair("report/p.go", "policy/pool"), []string{"report/p.go:2"}},
	{"gateway knows no simulator", "arrows", pair("gateway/p.go", "sim"), []string{"gateway/p.go:2"}},
	{"nothing imports cmd", "arrows", pair("lab/p.go", "cmd/spillway"), []string{"lab/p.go:2"}},
	{"a test that spans rooms may import both drivers", "arrows", map[string]string{
		"test/script/p_test.go": imports("gate", "sim"), "gate/x.go": "package x\n", "sim/x.go": "package x\n"}, nil},
	{"a room's test obeys the room's arrows", "arrows", pair("gate/p_test.go", "sim"), []string{"gate/p_test.go:2"}},
	{"a room's test may use test helpers", "arrows", pair("gate/p_test.go", "test/need"), nil},
	{"a room may not use test helpers", "arrows", pair("gate/p.go", "test/need"), []string{"gate/p.go:2"}},
	{"a file for another system counts", "arrows", pair("gate/p_plan9.go", "sim"), []string{"gate/p_plan9.go:2"}},
	{"an unknown room", "arrows", one("attic/p.go", "package p\n"), []string{"attic/p.go"}},
	{"an unknown room in policy", "arrows", one("policy/attic/p.go", "package p\n"), []string{"policy/attic/p.go"}},
}

func TestArrows(t *testing.T) { run(t, arrowCases) }

// TestNestedModule shows that a module of its own, such as bench/, is outside.
func TestNestedModule(t *testing.T) {
	tree := parse(t, one("bench/deep/p.go", imports("sim", "gate")), map[string]bool{"bench": true})
	if found := house.Rules()[0].Check(tree); len(found) > 0 {
		t.Errorf("arrows inside a nested module: %v", found)
	}
}

func TestRoomOf(t *testing.T) {
	for dir, want := range map[string]string{
		"policy/pool": "policy/pool", "gate": "gate/...", "gate/httpgate": "gate/...", "config/assemble": "config/assemble",
		"config/schema": "config/...", "test/need": "test/need", "test/script": "test/...", "policy/pool/deep": "", "gateway": "gateway/...",
	} {
		if room, _ := house.RoomOf(dir); room.Path != want {
			t.Errorf("RoomOf(%q) = %q, want %q", dir, room.Path, want)
		}
	}
}

func TestCheckDependencies(t *testing.T) {
	const page = "| module | why | who | down |\n| --- | --- | --- | --- |\n" +
		"| [`a.io/a`](https://a.io) | w | k | t |\n| `b.io/b` | w | k |  |\n| `gone.io/g` | w | k | t |\n"
	tree := parse(t, map[string]string{
		"gate/p.go":      "package p\nimport _ \"a.io/a/deep\"\nimport _ \"fmt\"\n",
		"gate/p_test.go": "package p\nimport _ \"b.io/b\"\nimport _ \"b.io/b/v2\"\n",
	}, nil)
	direct := house.DirectModules(tree, []string{"a.io/a", "b.io/b", "b.io/b/v2", "gone.io/g"})
	var got string
	for _, finding := range house.CheckDependencies(page, direct) {
		got += finding.What + "\n"
	}
	want := "b.io/b: say what was turned down\n" +
		"gate/p_test.go imports b.io/b/v2, which has no row: say why this one, who keeps it, what was turned down\n" +
		"nothing imports gone.io/g: delete its row, and the requirement with `go mod tidy`\n"
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
