//go:build !nocel

package expr_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/expr"
)

var lamps = &made{
	method: "GET", host: "shop.example.com", path: "/search/lamps", size: -1,
	query:   map[string]string{"q": "lamps", "n": "12", "empty": ""},
	headers: map[string]string{"X-Kind": "suggest", "X-Score": "0.25"},
	class:   "score", tenant: "acme", session: "s1",
}

func TestExpressionsSayWhatARequestIs(t *testing.T) {
	for text, want := range map[string]any{
		`method == 'GET' && host.endsWith('.example.com')`:                   true,
		`path.startsWith('/search/') && size < 0`:                            true,
		`size(query.q) >= 4`:                                                 true,
		`size(query.nothing) == 0 && query['nothing'] == ''`:                 true,
		`'empty' in query && !('nothing' in query)`:                          true,
		`has(query.empty) && !has(query.nothing)`:                            true,
		`headers['x-kind'] == 'suggest' && has(headers.X_Kind) == false`:     true,
		`method in ['GET', 'HEAD']`:                                          true,
		`['/a', '/search'].exists(p, path.startsWith(p))`:                    true,
		`path.matches('^/search/[a-z]+$')`:                                   true,
		`int(query.n) % 4 == 0`:                                              true,
		`size(query.q) >= 4 ? 0.1 : 0.9`:                                     0.1,
		`class == 'score' && tenant == 'acme' && session == 's1' ? 1.0 : .0`: 1.0,
		`double(headers['X-Score'])`:                                         0.25,
		`int(query.n) - 13`:                                                  -1.0,
		`size(query.q)`:                                                      5.0,
		`0.0 / 0.0`:                                                          math.NaN(),
		`headers['X-Kind'] + '/' + query.q`:                                  "suggest/lamps",
	} {
		t.Run(text, func(t *testing.T) {
			var got any
			var err error
			switch want.(type) {
			case bool:
				got, err = compile(t, expr.Condition, text).Bool(lamps)
			case float64:
				got, err = compile(t, expr.Gap, text).Number(lamps)
			case string:
				got, err = compile(t, expr.Key, text).Text(lamps)
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("gave %v (%v), want %v", got, err, want)
			}
		})
	}
}

func compile(t testing.TB, k expr.Kind, text string) *expr.Program {
	t.Helper()
	p, err := expr.Compile(k, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestWhatIsNoExpressionIsToldWithItsPlace(t *testing.T) {
	long := strings.Repeat("x", 20)
	for _, c := range []struct {
		kind expr.Kind
		text string
		want string
	}{
		{expr.Gap, `size(query.q) >= 4 ? 0.1`, "1:25: is wrong: Syntax error"},
		{expr.Gap, `size(qery.q)`, "1:6: is wrong: undeclared reference to 'qery' (did you mean 'query'?); known are method, host, path, query"},
		{expr.Gap, "size(query.q) +\n size(pth)", "2:7: is wrong: undeclared reference to 'pth'"},
		{expr.Gap, `query.q`, "gives string; write one that gives a number"},
		{expr.Gap, `true ? 1 : 0.5`, "both sides of : must be of one type"},
		{expr.Gap, `dyn(1)`, "gives dyn"},
		{expr.Condition, `size(query.q)`, "gives int; write one that gives true or false"},
		{expr.Condition, `tenant == 'acme'`, "undeclared reference to 'tenant'; known are method, host, path, query, headers, size"},
		{expr.Condition, `query.q == 4`, "no matching overload"},
		{expr.Key, `size`, "gives int; write one that gives text"},
		{expr.Condition, ``, "Syntax error"},
		{expr.Condition, `body == ''`, "undeclared reference to 'body'"},
		{expr.Condition, `now() > 0`, "undeclared reference to 'now'"},
		{expr.Condition, strings.Repeat("!", 4<<10) + "true", "longer than 4096 bytes"},
		{expr.Condition, strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "recursion"},

		{expr.Condition, `path.matches(query.pattern)`, "1:13: matches a pattern that is not a constant"},
		{expr.Condition, `matches(path, headers.a + 'x')`, "matches a pattern that is not a constant"},
		{expr.Condition, `path.matches('(')`, "missing closing )"},
		{expr.Condition, `path.matches('(((a{1,99}){1,99}){1,99})')`, "regex"},
		{expr.Condition, `headers.exists(h, h == 'X')`, "1:1: goes through something that is not a list"},
		{expr.Condition, `size(query) > 3`, "query is used as a whole"},
		{expr.Condition, `query == headers`, "is used as a whole"},
		{expr.Condition, `dyn(headers).exists(h, h == 'X')`, "not a list"},
		{expr.Condition, `{'a': 1}.exists(k, k == path)`, "not a list"},
		{expr.Condition, `path.contains(query.q)`, "units with values of 2048 bytes"},
		{expr.Condition, `[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4,5,6,7,8].all(c, path.contains('` + long + `'))))`, "units with values"},
	} {
		_, err := expr.Compile(c.kind, c.text)
		p, ok := errors.AsType[*expr.Problem](err)
		if !ok || !strings.Contains(err.Error(), c.want) || p.What == "" || p.Fix == "" || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%.60s\n got %v\nwant %s, on one line, with what and fix", c.text, err, c.want)
		}
	}
}

// What a caller sends is at worst an error of that one evaluation.
func TestAnEvaluationThatFailsIsAnError(t *testing.T) {
	for _, text := range []string{
		`int(query.q) / 2`, `1 / (size(query.q) - 5)`, `double(headers['X-Kind'])`, `[1][int(query.n)]`,
		`int(query.n) * 9223372036854775807`,
	} {
		if got, err := compile(t, expr.Gap, text).Number(lamps); err == nil {
			t.Errorf("%s gave %v", text, got)
		}
	}
	if _, err := compile(t, expr.Condition, `int(query.q) > 3 && path == '/search/lamps'`).Bool(lamps); err == nil {
		t.Error("a condition that cannot be said holds or not")
	}
	if got, err := compile(t, expr.Condition, `int(query.q) > 3 || path == '/search/lamps'`).Bool(lamps); err != nil || !got {
		t.Errorf("gave %v, %v: what holds in any case holds", got, err)
	}
}

func TestAValueIsSeenUpToABound(t *testing.T) {
	r := &made{path: "/" + strings.Repeat("x", 1<<20), query: map[string]string{"q": strings.Repeat("y", 1<<20)}}
	for text, want := range map[string]float64{`size(path)`: expr.ValueMost, `size(query.q)`: expr.ValueMost} {
		if got, err := compile(t, expr.Gap, text).Number(r); got != want || err != nil {
			t.Errorf("%s gave %v (%v) of a megabyte, want %v", text, got, err, want)
		}
	}
}

// FuzzCompile feeds texts as they come: none may panic, and what compiles is
// evaluated over a request that is as hostile.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{`size(query.q) >= 4 ? 0.1 : 0.9`, `headers['x'].matches('a+')`, `[1,2].map(x, x*2)[0]`, `query.q + path`,
		`int(query.q)`, `has(query.q)`, `'q' in query`, `timestamp(query.q).getFullYear()`, `duration(query.q) > duration('1s')`, `b'\xff'`,
		`type(path) == string`, `dyn(path).x`, `{path: 1}[path]`, `-9223372036854775808`, `optional.of(1)`, "'\\u0000'", `bytes(path)`} {
		f.Add(s, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		r := &made{path: value, host: value, query: map[string]string{"q": value}, headers: map[string]string{"X": value}}
		if p, err := expr.Compile(expr.Gap, text); err == nil {
			p.Number(r)
		}
		if p, err := expr.Compile(expr.Condition, text); err == nil {
			p.Bool(r)
		}
		if p, err := expr.Compile(expr.Key, text); err == nil {
			p.Text(r)
		}
	})
}
