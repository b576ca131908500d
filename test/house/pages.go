package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// RoomTable renders the table of rooms for docs/house.md.
func RoomTable() string {
	var b strings.Builder
	b.WriteString("| room | what for | may import | rules |\n| --- | --- | --- | --- |\n")
	for _, room := range Rooms() {
		may := "nothing of ours"
		if len(room.MayImport) > 0 {
			may = "`" + strings.Join(room.MayImport, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", room.Path, room.For, may, room.Strict)
	}
	return b.String()
}

// RuleTable renders the table of rules for docs/house.md.
func RuleTable() string {
	var b strings.Builder
	b.WriteString("| rule | why |\n| --- | --- |\n")
	for _, rule := range Rules() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", rule.Name, rule.Why)
	}
	return b.String()
}

// Splice returns page with the text between the marks <!-- name: begin --> and
// <!-- name: end --> replaced.
func Splice(page, name, text string) (string, error) {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("no line %q", strings.TrimSpace(begin))
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("no line %q", end)
	}
	return before + begin + text + end + after, nil
}

// DirectModules returns the required modules that Go files of this module
// import, tests included, each with the first file that does. The longest
// module path that contains the import wins, as it does for the go command.
func DirectModules(t *Tree, required []string) map[string]string {
	direct := map[string]string{}
	for _, file := range t.Files {
		if file.Outside || file.Ignored {
			continue
		}
		file.imports(func(_ *ast.ImportSpec, p string) {
			var module string
			for _, candidate := range required {
				if within(p, candidate+"/...") && len(candidate) > len(module) {
					module = candidate
				}
			}
			if module != "" && direct[module] == "" {
				direct[module] = file.Path
			}
		})
	}
	return direct
}

// dependencyRow is a row of docs/dependencies.md: the module's path, then why
// this one, who keeps it and what was turned down.
var dependencyRow = regexp.MustCompile("(?m)^\\| \\[?`([^`]+)`[^|]*\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|$")

// CheckDependencies compares the page with the modules imported directly.
func CheckDependencies(page string, direct map[string]string) []Finding {
	const file = "docs/dependencies.md"
	var found []Finding
	rows := map[string]bool{}
	for _, row := range dependencyRow.FindAllStringSubmatch(page, -1) {
		module := row[1]
		if rows[module] {
			found = append(found, Finding{"dependencies", file, 0, module + " has two rows"})
		}
		rows[module] = true
		if direct[module] == "" {
			found = append(found, Finding{"dependencies", file, 0, "nothing imports " + module + ": delete its row, and the requirement with `go mod tidy`"})
		}
		for i, column := range []string{"why this one", "who keeps it", "what was turned down"} {
			if strings.TrimSpace(row[i+2]) == "" {
				found = append(found, Finding{"dependencies", file, 0, module + ": say " + column})
			}
		}
	}
	for _, module := range sortedKeys(direct) {
		if !rows[module] {
			found = append(found, Finding{"dependencies", file, 0,
				fmt.Sprintf("%s imports %s, which has no row: say why this one, who keeps it, what was turned down", direct[module], module)})
		}
	}
	return sortFindings(found)
}
