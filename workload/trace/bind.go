package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// binding is a mapping applied to the columns of one file.
type binding struct {
	terms  [fields][]term
	only   int // column of the filter; below 0 there is none
	equals []byte
}

// term is one column of a sum.
type term struct {
	column int
	factor int64 // of a sum; 1 for a column alone
	unit   unit
}

// bind finds the mapping's columns. An expression that is a column's name is
// that column, whatever is in the name.
func bind(m Mapping, columns []string) (binding, error) {
	b := binding{only: -1}
	if m.expr[at] == "" {
		return b, fmt.Errorf("no preset knows this header, so say which column means what: at=%s,... (columns: %s)", first(columns), list(columns))
	}
	if m.expr[count] != "" && m.per == 0 {
		return b, fmt.Errorf("count=%s needs the length that a line stands for: add per=1m", m.expr[count])
	}
	for f, expr := range m.expr {
		if expr == "" {
			continue
		}
		terms, err := bindSum(expr, columns)
		if err != nil {
			return b, fmt.Errorf("%s=%s: %w", fieldNames[f], expr, err)
		}
		switch field(f) {
		case tenant, class, session, key:
			if len(terms) > 1 || terms[0].unit != 0 || terms[0].factor != 1 {
				return b, fmt.Errorf("%s=%s: must be one column", fieldNames[f], expr)
			}
		case cost, bytesOf, importance, count:
			if terms[0].unit != 0 {
				return b, fmt.Errorf("%s=%s: is no time, so it has no unit", fieldNames[f], expr)
			}
		case at:
			if terms[0].factor != 1 {
				return b, fmt.Errorf("at=%s: must start with an instant", expr)
			}
		}
		b.terms[f] = terms
	}
	if m.only != "" && m.only != "-" {
		column, value, _ := strings.Cut(m.only, ":")
		if b.only = slices.Index(columns, column); b.only < 0 {
			return b, fmt.Errorf("only=%s: there is no column %q (columns: %s)", m.only, column, list(columns))
		}
		b.equals = []byte(value)
	}
	return b, nil
}

// bindSum reads COLUMN[:unit], or A+2*B-C[:unit].
func bindSum(expr string, columns []string) ([]term, error) {
	if i := slices.Index(columns, expr); i >= 0 {
		return []term{{i, 1, 0}}, nil
	}
	var u unit
	if i := strings.LastIndexByte(expr, ':'); i >= 0 {
		var known bool
		if u, known = units[expr[i+1:]]; !known {
			return nil, fmt.Errorf("there is no unit %q: ns, us, ms, s, m or h", expr[i+1:])
		}
		expr = expr[:i]
		if i := slices.Index(columns, expr); i >= 0 {
			return []term{{i, 1, u}}, nil
		}
	}
	var terms []term
	for sign := int64(1); ; {
		end := strings.IndexAny(expr, "+-")
		name := expr
		if end >= 0 {
			name = expr[:end]
		}
		t := term{factor: sign, unit: u}
		if number, column, times := strings.Cut(name, "*"); times {
			n, err := decimal([]byte(strings.TrimSpace(number)), 1)
			if err != nil || n == 0 || n > 1e9 {
				return nil, fmt.Errorf("%q is no whole number from 1 to 1,000,000,000", number)
			}
			t.factor, name = t.factor*n, column
		}
		name = strings.TrimSpace(name)
		if t.column = slices.Index(columns, name); t.column < 0 {
			return nil, fmt.Errorf("there is no column %q (columns: %s)", name, list(columns))
		}
		terms = append(terms, t)
		if end < 0 {
			return terms, nil
		}
		if sign = 1; expr[end] == '-' {
			sign = -1
		}
		expr = expr[end+1:]
	}
}

func first(columns []string) string {
	if len(columns) == 0 {
		return "COLUMN"
	}
	return columns[0]
}

func list(columns []string) string {
	if len(columns) > 20 {
		columns = append(slices.Clone(columns[:20]), "...")
	}
	text := strings.Join(columns, ", ")
	if len(text) > 400 {
		text = text[:400] + "..."
	}
	return fmt.Sprintf("%q", text)
}

// instant returns the sum of the terms, of which the first is an instant and
// the rest are lengths.
func instant(terms []term, row [][]byte) (ns int64, dated bool, err error) {
	ns, dated, err = parseInstant(row[terms[0].column], terms[0].unit)
	for _, t := range terms[1:] {
		var n int64
		if err == nil {
			n, err = parseLength(row[t.column], t.unit)
		}
		ns, err = addTimes(ns, n, t.factor, err)
	}
	return ns, dated, err
}

// length returns the sum of the terms as a time of 0 or more; 0 if unmapped.
func length(terms []term, row [][]byte) (int64, error) {
	sum := int64(0)
	for _, t := range terms {
		if empty(row[t.column]) {
			continue
		}
		n, err := parseLength(row[t.column], t.unit)
		if sum, err = addTimes(sum, n, t.factor, err); err != nil {
			return 0, err
		}
	}
	return sum, notNegative(sum)
}

// number returns the sum of the terms, 0 or more; 0 if unmapped.
func number(terms []term, row [][]byte) (int64, error) {
	sum := int64(0)
	for _, t := range terms {
		if empty(row[t.column]) {
			continue
		}
		n, err := decimal(row[t.column], 1)
		if sum, err = addTimes(sum, n, t.factor, err); err != nil {
			return 0, err
		}
	}
	return sum, notNegative(sum)
}

// name returns the value of a column as a name; "-" is what logs write for none.
func name(terms []term, row [][]byte) []byte {
	if len(terms) == 0 || empty(row[terms[0].column]) {
		return nil
	}
	if v := row[terms[0].column]; len(v) <= maxName {
		return v
	}
	return row[terms[0].column][:maxName]
}

// maxName is the longest name kept of a tenant or class; the rest is cut off.
const maxName = 256

func empty(value []byte) bool {
	return len(value) == 0 || bytes.Equal(value, []byte{'-'})
}

// addTimes returns sum + n*factor.
func addTimes(sum, n, factor int64, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	x := float64(float64(n)*float64(factor)) + float64(sum)
	if !(math.Abs(x) < math.MaxInt64/2) {
		return 0, errors.New("the sum is too large")
	}
	return sum + n*factor, nil
}

func notNegative(n int64) error {
	if n < 0 {
		return fmt.Errorf("%d is negative", n)
	}
	return nil
}
