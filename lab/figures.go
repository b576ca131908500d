package lab

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spillway-dev/spillway/report"
)

// Figures are the numbers of an arm, by the path under which its JSON has
// them: completed.A, classes.checkout.p99_ms, queue_history.3.
type Figures map[string]report.Number

// FiguresOf returns the numbers in the JSON of an arm's result. A null is a
// figure that is not known; words are no figures.
func FiguresOf(result any) (Figures, error) {
	text, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	f := Figures{}
	f.take("", tree)
	return f, nil
}

func (f Figures) take(path string, node any) {
	below := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v { // order does not matter: each lands under its own path
			f.take(below(name), child)
		}
	case []any:
		for i, child := range v {
			f.take(below(strconv.Itoa(i)), child)
		}
	case float64:
		f[path] = report.Number(v)
	case nil:
		f[path] = report.None()
	}
}
