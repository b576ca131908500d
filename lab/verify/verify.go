package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Outcome is what was found.
type Outcome struct {
	Lab        string     `json:"lab"`
	Arms       int        `json:"arms"`
	Rows       int64      `json:"rows"`
	Figures    int        `json:"figures"`  // compared
	Verdicts   int        `json:"verdicts"` // compared
	Mismatches []Mismatch `json:"mismatches"`
}

// Mismatch is something written that the records do not say.
type Mismatch struct {
	Where   string `json:"where"`
	Written string `json:"written"`
	Found   string `json:"found"`
}

// String is the mismatch on one line.
func (m Mismatch) String() string {
	return fmt.Sprintf("%s: written %s, found %s", m.Where, m.Written, m.Found)
}

type planFile struct {
	Format string `json:"format"`
	Lab    string `json:"lab"`
	Seed   uint64 `json:"seed"`
	Arms   []struct {
		Name     string          `json:"name"`
		Settings json.RawMessage `json:"settings"`
	} `json:"arms"`
	Predictions []prediction `json:"predictions"`
}

type prediction struct {
	Says    string     `json:"says"`
	Arm     string     `json:"arm"`
	Figures []string   `json:"figures"`
	Is      string     `json:"is"`
	Values  []*float64 `json:"values"`
	Than    string     `json:"than"`
}

type resultsFile struct {
	Lab      string                     `json:"lab"`
	Mode     string                     `json:"mode"`
	Seed     uint64                     `json:"seed"`
	Arms     map[string]json.RawMessage `json:"arms"`
	Flat     string                     `json:"arm"`
	Verdicts []struct {
		prediction
		Measured []*float64 `json:"measured"`
		Verdict  string     `json:"verdict"`
	} `json:"predictions"`
	PlanSHA256 string `json:"plan_sha256"`
	Records    map[string]struct {
		Rows   int64  `json:"rows"`
		SHA256 string `json:"sha256"`
	} `json:"records"`
}

// Dir verifies the records in a folder. The error says what could not be read
// at all; what could and does not agree is in the outcome.
func Dir(dir string) (*Outcome, error) {
	var plan planFile
	text, err := readJSON(filepath.Join(dir, "plan.json"), &plan)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if plan.Format != format {
		return nil, fmt.Errorf("verify: %s: format %q; this version reads %q", filepath.Join(dir, "plan.json"), plan.Format, format)
	}
	var results resultsFile
	raw, err := readJSON(filepath.Join(dir, "results.json"), &results)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	sum := sha256.Sum256(text)
	c := &checker{out: &Outcome{Lab: plan.Lab, Mismatches: []Mismatch{}}, plan: &plan, results: &results,
		hash: hex.EncodeToString(sum[:]), figures: map[string]figures{}}
	c.same("plan_sha256", results.PlanSHA256, c.hash)
	c.same("lab", results.Lab, plan.Lab)
	c.same("seed", fmt.Sprint(results.Seed), fmt.Sprint(plan.Seed))
	c.same("arms", fmt.Sprint(len(results.Arms)), fmt.Sprint(len(plan.Arms)))
	for i := range plan.Arms {
		if err := c.arm(dir, plan.Arms[i].Name, plan.Arms[i].Settings); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	c.flat(raw)
	c.verdicts()
	if err := c.whole(dir, raw); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return c.out, nil
}

// whole verifies what a lab says beside its arms.
func (c *checker) whole(dir string, raw []byte) error {
	switch c.plan.Lab {
	case "fallback":
		return c.fallbackWhole(dir, raw)
	case "limits":
		return c.limitsWhole(raw)
	case "strip":
		return c.stripWhole(raw)
	}
	return nil
}

type checker struct {
	out     *Outcome
	plan    *planFile
	results *resultsFile
	hash    string
	figures map[string]figures
	paths   map[string][]step // of lab fallback's frozen lookup, by arm
	tipped  map[string][]bool // of lab fallback's rounds, by arm
}

func (c *checker) same(where, written, found string) {
	if written != found {
		c.mismatch(where, written, found)
	}
}

func (c *checker) mismatch(where, written, found string) {
	c.out.Mismatches = append(c.out.Mismatches, Mismatch{where, written, found})
}

// arm verifies the figures of one arm.
func (c *checker) arm(dir, name string, settings json.RawMessage) error {
	file, err := readArm(dir, name)
	if err != nil {
		return err
	}
	c.out.Arms++
	c.out.Rows += int64(len(file.rows))
	kept := c.results.Records[name]
	c.same("records."+name+".rows", fmt.Sprint(kept.Rows), fmt.Sprint(len(file.rows)))
	c.same("records."+name+".sha256", kept.SHA256, file.sha256)
	c.same("records."+name+".header", file.header, fmt.Sprintf("# %s lab=%s arm=%s plan=sha256:%s", format, c.plan.Lab, name, c.hash))

	var found figures
	switch c.plan.Lab {
	case "fair":
		found, err = fairFigures(settings, file.rows)
	case "fallback":
		found, err = c.fallbackFigures(dir, name, settings, file.rows)
	case "pool":
		found, err = poolFigures(settings, c.plan.Seed, file.rows)
	case "limits":
		found, err = limitsFigures(settings, file.rows)
	case "retries":
		found, err = retriesFigures(settings, file.rows)
	case "strip":
		found, err = stripFigures(settings, file.rows)
	default:
		return fmt.Errorf("lab %q: this version knows fair, fallback, limits, pool, retries and strip", c.plan.Lab)
	}
	if err != nil {
		return fmt.Errorf("arm %s: %w", name, err)
	}
	c.figures[name] = found
	var tree any
	if text := c.results.Arms[name]; text != nil {
		if err := json.Unmarshal(text, &tree); err != nil {
			return fmt.Errorf("arm %s: %w", name, err)
		}
	}
	written := figures{}
	written.flatten("", tree)
	for _, path := range slices.Sorted(maps.Keys(written)) {
		c.out.Figures++
		value, known := found[path]
		switch {
		case !known:
			c.mismatch(name+"."+path, show(written[path]), "no such figure in the records")
		case !agrees(path, written[path], value):
			c.mismatch(name+"."+path, show(written[path]), show(value))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if _, known := written[path]; !known {
			c.mismatch(name+"."+path, "nothing", show(found[path]))
		}
	}
	return nil
}

// flat verifies that the figures at the top of the document are those of the
// arm that it names.
func (c *checker) flat(raw []byte) {
	if c.results.Flat == "" {
		return
	}
	var top, arm map[string]any
	if json.Unmarshal(raw, &top) != nil || json.Unmarshal(c.results.Arms[c.results.Flat], &arm) != nil {
		c.same("arm", c.results.Flat, "no such arm")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(arm)) {
		if !reflect.DeepEqual(top[key], arm[key]) {
			c.same(key, fmt.Sprint(top[key]), fmt.Sprint(arm[key]))
		}
	}
}

// verdicts verifies every prediction and its verdict.
func (c *checker) verdicts() {
	c.same("predictions", fmt.Sprint(len(c.results.Verdicts)), fmt.Sprint(len(c.plan.Predictions)))
	for i, p := range c.plan.Predictions[:min(len(c.plan.Predictions), len(c.results.Verdicts))] {
		v := c.results.Verdicts[i]
		c.out.Verdicts++
		where := fmt.Sprintf("predictions.%d (%s: %s)", i, p.Arm, p.Says)
		if !reflect.DeepEqual(v.prediction, p) {
			c.same(where, "another prediction than was planned", "as planned: "+p.Says)
			continue
		}
		verdict := "held"
		for j, name := range p.Figures {
			measured := c.lookup(p.Arm, name)
			if j >= len(v.Measured) || !agrees(name, value(v.Measured[j]), measured) {
				c.mismatch(where+" measured "+name, show(value(at(v.Measured, j))), show(measured))
			}
			want := value(at(p.Values, j))
			if p.Than != "" {
				want *= c.lookup(p.Than, name)
			}
			switch {
			case math.IsNaN(measured) || math.IsNaN(want):
				verdict = "unknown"
			case verdict == "held" && !holds(p.Is, measured, want):
				verdict = "wrong"
			}
		}
		c.same(where+" verdict", v.Verdict, verdict)
	}
}

func (c *checker) lookup(arm, figure string) float64 {
	if v, known := c.figures[arm][figure]; known {
		return v
	}
	return math.NaN()
}

func holds(relation string, measured, want float64) bool {
	switch relation {
	case "=":
		return math.Abs(measured-want) <= 2e-6
	case "<=":
		return measured <= want+1e-6
	case ">=":
		return measured >= want-1e-6
	}
	return false
}

func at(list []*float64, i int) *float64 {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// figures are numbers by path; NaN is one that does not exist (null).
type figures map[string]float64

func (f figures) flatten(path string, node any) {
	below := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := node.(type) {
	case map[string]any:
		for name, child := range v { // order does not matter
			if path == "" {
				f.flatten(name, child)
			} else {
				f.flatten(path+"."+name, child)
			}
		}
	case []any:
		for i, child := range v {
			f.flatten(below(strconv.Itoa(i)), child)
		}
	case float64:
		f[path] = v
	case nil:
		if path != "" {
			f[path] = math.NaN()
		}
	}
}

// agrees reports whether a written figure is what was found: to the six
// decimals that are written, or, for a quantile, up to 0.1 % above.
func agrees(path string, written, found float64) bool {
	if math.IsNaN(written) || math.IsNaN(found) {
		return math.IsNaN(written) && math.IsNaN(found)
	}
	slack := 1e-6 + 1e-12*math.Abs(found)
	if isQuantile(path) {
		return written >= found-slack && written <= found*1.001+slack
	}
	return math.Abs(written-found) <= slack
}

func isQuantile(path string) bool {
	last := path[strings.LastIndex(path, ".")+1:]
	for _, q := range []string{"p50_ms", "p90_ms", "p99_ms", "p999_ms"} {
		if strings.HasSuffix(last, q) {
			return true
		}
	}
	return false
}

func show(v float64) string {
	if math.IsNaN(v) {
		return "null"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
