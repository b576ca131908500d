package generic_test

import (
	"net/http"
	"testing"

	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/generic"
)

// asked is a request as expressions know it.
type asked struct {
	pages string
	size  int64
}

func (asked) Method() string                     { return "POST" }
func (asked) Host() string                       { return "x" }
func (asked) Path() string                       { return "/render" }
func (a asked) Query(name string) (string, bool) { return a.pages, name == "pages" }
func (asked) Header(string) (string, bool)       { return "", false }
func (a asked) Size() int64                      { return a.size }
func (asked) Class() string                      { return "all" }
func (asked) Tenant() string                     { return "acme" }
func (asked) Session() string                    { return "" }

func program(t *testing.T, text string) *expr.Program {
	p, err := expr.Compile(expr.Gap, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatACallCostsIsWhatItsExpressionsGive(t *testing.T) {
	api := generic.New(generic.Costs{
		Input: program(t, "size / 4"), Output: program(t, "double(query.pages) * 100.5"), Money: program(t, "double(query.pages) * 0.002"),
	})
	for _, c := range []struct {
		pages         string
		size          int64
		input, output int64
		money         int64
		wrong         bool
	}{
		{pages: "3", size: 4000, input: 1000, output: 302, money: 6000},
		{pages: "0", size: 0},
		{pages: "1e300", size: 4, input: 1, output: provider.TokensMost, money: quota.MostMax},
		{pages: "-1", size: 4, wrong: true},
		{pages: "many", size: 4, wrong: true},
		{pages: "NaN", size: 4, wrong: true},
		{pages: "1", size: -40, wrong: true},
	} {
		call, err := api.Read(&provider.Request{Method: "POST", Path: "/render", Header: http.Header{}, Known: asked{c.pages, c.size}})
		if c.wrong {
			if err == nil {
				t.Errorf("%+v: %+v", c, call)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a := call.Amounts()
		if call.Input != c.input || call.Output != c.output || a[quota.Money] != c.money || a[quota.Requests] != 1 {
			t.Errorf("%+v: %+v, %v", c, call, a)
		}
		answer := call.Answer(http.Header{"Content-Type": {"application/json"}})
		answer.Pass([]byte(`{"usage":{"prompt_tokens":7}}`))
		if s := answer.End(provider.AtEnd); s.State != provider.Counted || s.Amounts != a {
			t.Errorf("settled %+v, want what it was held for", s)
		}
	}
}
