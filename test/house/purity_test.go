package house_test

import "testing"

// in makes a file of policy/pool whose function body is the given line, so that
// a finding is in line 3.
func in(imports, body string) map[string]string {
	return one("policy/pool/p.go", "package p; import ("+imports+")\nfunc f(a, b, c float64, m map[string]int, s []int) (r float64) {\n"+body+"\nreturn }\nvar _ = f\n")
}

const at = "policy/pool/p.go:3"

var purityCases = []ruleCase{
	{"a type error", "compiles", one("policy/pool/p.go", "package p\nvar x int = \"\"\n"), []string{"policy/pool/p.go:2"}},
	{"types from another of our packages", "compiles", map[string]string{
		"policy/pool/p.go": "package p\nimport " + ourPath + "policy/unit\"\nvar x unit.T = 1\n", "policy/unit/u.go": "package unit\ntype T int\n"}, nil},

	{"a lock", "pure-imports", one("policy/pool/p.go", "package p\nimport _ \"sync\"\n"), []string{"policy/pool/p.go:2"}},
	{"a context", "pure-imports", one("policy/pool/p.go", "package p\nimport _ \"context\"\n"), []string{"policy/pool/p.go:2"}},
	{"the file system", "pure-imports", one("policy/pool/p.go", "package p\nimport _ \"os\"\n"), []string{"policy/pool/p.go:2"}},
	{"a library", "pure-imports", one("policy/pool/p.go", "package p\nimport _ \"go.yaml.in/yaml/v3\"\n"), []string{"policy/pool/p.go:2"}},
	{"arithmetic", "pure-imports", one("policy/pool/p.go", "package p\nimport _ \"math/bits\"\n"), nil},
	{"a test may", "pure-imports", one("policy/pool/p_test.go", "package p\nimport _ \"os\"\n"), nil},
	{"another room may", "pure-imports", one("gate/p.go", "package p\nimport _ \"sync\"\n"), nil},

	{"go", "pure-syntax", in("", "go f(a, b, c, m, s)"), []string{at}},
	{"channel type", "pure-syntax", one("policy/pool/p.go", "package p\ntype t struct {\nc chan int\n}\n"), []string{at}},
	{"send, receive, select, range", "pure-syntax",
		one("policy/pool/p.go", "package p\nfunc f(x chan int) {\nx <- 1\n<-x\nselect {}\nfor range x {}\n}\n"),
		[]string{"policy/pool/p.go:2", "policy/pool/p.go:3", "policy/pool/p.go:4", "policy/pool/p.go:5", "policy/pool/p.go:6"}},
	{"printing", "pure-syntax", in(`"fmt"`, `fmt.Println(a); println(b)`), []string{at, at}},
	{"rendering is fine", "pure-syntax", in(`"fmt"`, `_ = fmt.Sprint(a)`), nil},
	{"gate may", "pure-syntax", one("gate/p.go", "package p\nfunc f() { go f() }\n"), nil},

	{"now", "clock", in(`"time"`, `_ = time.Now()`), []string{at}},
	{"under another name", "clock", in(`clk "time"`, `_ = clk.Since`), []string{at}},
	{"a timer", "clock", in(`"time"`, `time.AfterFunc(1, nil)`), []string{at}},
	{"the machine's zone", "clock", in(`"time"`, `_ = time.Unix(0, 0).In(time.Local)`), []string{at}},
	{"durations are fine", "clock", in(`"time"`, `_ = 3 * time.Second; _ = time.Unix(0, 0).After(time.Time{})`), nil},
	{"sim is virtual too", "clock", one("sim/p.go", "package p\nimport \"time\"\nvar x = time.Now\n"), []string{"sim/p.go:3"}},
	{"workload is virtual too", "clock", one("workload/trace/p.go", "package p\nimport \"time\"\nvar x = time.Now\n"), []string{"workload/trace/p.go:3"}},
	{"gate reads the clock", "clock", one("gate/p.go", "package p\nimport \"time\"\nvar x = time.Now\n"), nil},

	{"global randomness", "chance", one("sim/p.go", "package p\nimport _ \"math/rand/v2\"\n"), []string{"sim/p.go:2"}},
	{"a hash seeded by the process", "chance", one("policy/pool/p.go", "package p\nimport _ \"hash/maphash\"\n"), []string{"policy/pool/p.go:2"}},
	{"gate may", "chance", one("gate/p.go", "package p\nimport _ \"math/rand/v2\"\n"), nil},

	{"a logarithm", "math", in(`"math"`, `_ = math.Log(a)`), []string{at}},
	{"as a value", "math", in(`"math"`, `g := math.Pow; _ = g`), []string{at}},
	{"in a workload", "math", one("workload/p.go", "package p\nimport \"math\"\nvar x = math.Exp(1)\n"), []string{"workload/p.go:3"}},
	{"exact functions and constants", "math", in(`"math"`, `_ = math.Sqrt(a) + math.Floor(b) + math.Pi`), nil},
	{"a program run by hand", "math", one("workload/gen.go", "//go:build ignore\n\npackage main\nimport \"math\"\nvar x = math.Exp(1)\n"), nil},

	{"fused with an addition", "products", in("", "r = a*b + c"), []string{at}},
	{"fused with a subtraction", "products", in("", "r = c - (a * b)"), []string{at}},
	{"negated and added", "products", in("", "r = -(a*b) + c"), []string{at}},
	{"fused across an assignment", "products", in("", "d := a * b; r = d + c"), []string{at}},
	{"added up", "products", in("", "r += a * b"), []string{at}},
	{"multiplied in place", "products", in("", "r *= a"), []string{at}},
	{"handed to a function that may be inlined", "products", in("", "r = f(a*b, b, c, m, s)"), []string{at}},
	{"of a named type", "products", one("policy/pool/p.go", "package p\ntype ewma float64\nfunc f(x, y, z ewma) ewma { return x*y + z }\n"), []string{at}},
	{"a conversion rounds", "products", in("", "r = float64(a*b) + c"), nil},
	{"a conversion to an integer rounds", "products", in("", "s[0] = int(a*b) + s[1]"), nil},
	{"chains round at the end", "products", in("", "r = float64(a*b*c) + a*b/c"), nil},
	{"comparison and math", "products", in(`"math"`, "if a*b < c { r = math.Floor(a*b) + c }"), nil},
	{"a power of two is exact", "products", in("", "r = 2*a + 0x1p-53*b; r *= 0.5; r = a*-4 + c"), nil},
	{"another constant is not", "products", in("", "r = 3*a + c"), []string{at}},
	{"integers and constants", "products", in("", "s[0] = s[1]*s[2] + 1; r = c + 2.0*3.0"), nil},

	{"a map", "map-order", in("", "for k := range m { _ = k }"), []string{at}},
	{"a named map", "map-order", one("policy/pool/p.go", "package p\ntype set map[int]bool\nfunc f(s set) { for range s {} }\n"), []string{at}},
	{"keys of a map", "map-order", one("sim/p.go", "package p\nimport \"maps\"\nvar x = maps.Keys(map[int]int{})\n"), []string{"sim/p.go:3"}},
	{"sorted keys of a map", "map-order", one("sim/p.go", "package p\nimport (\"maps\"; \"slices\")\nvar x = slices.Sorted(maps.Keys(map[int]int{}))\n"), nil},
	{"excused with a reason", "map-order", in("", "for k := range m { // order does not matter: a sum of integers\n s[0] += m[k] }"), nil},
	{"excused without one", "map-order", in("", "for k := range m { // order does not matter: \n s[0] += m[k] }"), []string{at}},
	{"excused on another line", "map-order", in("", "// order does not matter: sum\nfor k := range m { s[0] += m[k] }"), []string{"policy/pool/p.go:4"}},
	{"a slice", "map-order", in("", "for k := range s { s[0] += k }"), nil},

	{"assigned", "state", one("policy/pool/p.go", "package p\nvar x int\nfunc f() { x = 1 }\n"), []string{at}},
	{"counted", "state", one("policy/pool/p.go", "package p\nvar x int\nfunc f() { x++ }\n"), []string{at}},
	{"a field, an element", "state", one("policy/pool/p.go", "package p\nvar x []struct{ n int }\nfunc f() { x[0].n = 1 }\n"), []string{at}},
	{"its address", "state", one("policy/pool/p.go", "package p\nvar x int\nfunc f() *int { return &x }\n"), []string{at}},
	{"deleted from", "state", one("policy/pool/p.go", "package p\nvar x map[int]int\nfunc f() { delete(x, 1) }\n"), []string{at}},
	{"a method that may change it", "state", one("policy/pool/p.go", "package p; type t int; func (t *t) inc() { *t++ }\nvar x t\nfunc f() { x.inc() }\n"), []string{at}},
	{"exported", "state", one("policy/pool/p.go", "package p\n\nvar Table = [...]int{1}\n"), []string{at}},
	{"init", "state", one("policy/pool/p.go", "package p\n\nfunc init() {}\n"), []string{at}},
	{"another package's", "state", map[string]string{
		"policy/boundary/p.go": "package p\nimport " + ourPath + "policy/unit\"\nfunc f() { unit.ErrX = nil }\n",
		"policy/unit/u.go":     "package unit\nimport \"errors\"\nvar ErrX = errors.New(\"x\")\n"}, []string{"policy/boundary/p.go:3"}},
	{"sentinels and tables", "state", one("policy/pool/p.go",
		"package p\nimport \"errors\"\nvar ErrFull = errors.New(\"full\")\nvar table = [...]int{1}\nfunc f(i int) int { x := table[i]; x++; return x }\n"), nil},

	{"by name", "one-build", one("policy/pool/p_windows.go", "package p\n"), []string{"policy/pool/p_windows.go"}},
	{"by tag", "one-build", one("policy/pool/p.go", "//go:build linux || windows || darwin\n\npackage p\n"), []string{"policy/pool/p.go"}},
	{"everywhere", "one-build", one("policy/pool/p.go", "package p\n"), nil},
}

func TestPurity(t *testing.T) { run(t, purityCases) }
