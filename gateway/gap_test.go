package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// classOf is the class that a request was offered to; none if no class takes it.
func (h *harness) classOf(method, path string, header http.Header, body io.Reader) string {
	h.Helper()
	r, err := http.NewRequest(method, h.url+path, body)
	if err != nil {
		h.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	before := h.offered()
	res, err := h.client.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		return "none"
	}
	for class, n := range h.offered() {
		if n > before[class] {
			return class
		}
	}
	return "?"
}

// offered is how many requests were offered to each class.
func (h *harness) offered() map[string]int64 {
	all := make(map[string]int64)
	for _, s := range h.Gate("app").States() {
		all[s.Name] = s.Tally.Offered
	}
	return all
}

const byExpression = `
  long: { match: { path: "/s*", expr: "size(query.q) >= 4" } }
  batch: { match: { expr: "headers['x-kind'] == 'batch' && method in ['POST', 'PUT']" } }
  large: { match: { expr: "size > 10" } }
  host: { match: { expr: "host == 'api.example.com'" } }
  odd: { match: { path: "/n/*", expr: "int(query.n) % 2 == 1" } }
  dots: { match: { expr: "path == '/secret'" } }
  rest: { match: { path: "/r*" } }
`

func TestAClassTakesWhatItsExpressionSays(t *testing.T) {
	h := start(t, byExpression, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	for _, c := range []struct {
		method, path string
		header       http.Header
		body         string
		want         string
	}{
		{"GET", "/search?q=lamps", nil, "", "long"},
		{"GET", "/search?q=la%6Dps", nil, "", "long"},
		{"GET", "/search?q=lam", nil, "", "none"},
		{"GET", "/search", nil, "", "none"},
		{"GET", "/elsewhere?q=lamps", nil, "", "none"},
		{"POST", "/r", http.Header{"X-Kind": {"batch"}}, "x", "batch"},
		{"GET", "/r", http.Header{"X-Kind": {"batch"}}, "", "rest"},
		{"POST", "/r", nil, "more than ten bytes", "large"},
		{"GET", "/r", http.Header{"Host": {"API.example.com:80"}}, "", "host"},
		{"GET", "/n/?n=3", nil, "", "odd"},
		{"GET", "/n/?n=4", nil, "", "none"},
		{"GET", "/n/?n=x", nil, "", "none"}, // and counts as one that failed
		{"GET", "/r/../secret", nil, "", "dots"},
		{"GET", "/%73ecret", nil, "", "dots"},
	} {
		if got := h.classOf(c.method, c.path, c.header, strings.NewReader(c.body)); got != c.want {
			t.Errorf("%s %s %v is of class %s, want %s", c.method, c.path, c.header, got, c.want)
		}
	}
	if want := `spillway_expression_errors_total{class="odd",key="match",resource="app"} 1`; !strings.Contains(h.adminGet("/metrics").body, want) {
		t.Errorf("the metrics do not say %s", want)
	}
}

// What a caller may send is no way around, and no way to make classifying dear.
func TestHostileRequestsAreClassifiedLikeAnyOther(t *testing.T) {
	h := start(t, byExpression, func(http.ResponseWriter, *http.Request) {})
	for _, q := range []string{
		url.QueryEscape(strings.Repeat("x", 30_000)), "%00%00%00%00", "%zz", strings.Repeat("q=&", 5000) + "q=long", url.QueryEscape("\xff\xfe\xfd\xfc"),
	} {
		if got := h.classOf("GET", "/s?q="+q, nil, nil); got == "?" {
			t.Errorf("q=%.20s... was not offered to a class, nor refused", q)
		}
	}
	if got := h.classOf("GET", "/n/?n=9223372036854775808", nil, nil); got != "none" {
		t.Errorf("a number too large is of class %s", got)
	}
}

// An expression that a reload brings is in force with it; a wrong one changes nothing.
func TestAReloadBringsExpressions(t *testing.T) {
	text := func(expression string) string {
		return fmt.Sprintf("  long: { upstream: app, match: { expr: %q } }\n", expression)
	}
	app := serviceAt(t, func(http.ResponseWriter, *http.Request) {})
	h := startFile(t, app, app, text("size(query.q) >= 4"))
	for _, c := range []struct{ expression, result, class string }{
		{"size(query.q) < 4", "applied", "long"},
		{"size(qery.q) < 4", "refused", "long"},
		{"size(query.q) >= 4", "applied", "none"},
	} {
		write(t, h.path, fileOf(app, app, text(c.expression)))
		if got, _ := h.Reload("test"); got.Result != c.result {
			t.Errorf("%s: %s (%s), want %s", c.expression, got.Result, got.Why, c.result)
		}
		if got := h.classOf("GET", "/search?q=lam", nil, nil); got != c.class {
			t.Errorf("with %s it is of class %s, want %s", c.expression, got, c.class)
		}
	}
}

// Under more load than there is, those lose their full answer first whose gap is
// small: by an expression, and by a table.
func TestUnderLoadTheSmallestGapIsShedFirst(t *testing.T) {
	for say, gap := range map[string]string{
		"an expression": `{ expr: "size(query.q) >= 4 ? 0.1 : 0.9" }`,
		"a table":       `{ table: { key: "query:q", values: { "lamps*": 0.1, "*": 0.9 } } }`,
	} {
		t.Run(say, func(t *testing.T) {
			h := start(t, fmt.Sprintf("  all: { slots: 4, budget: { latency: 100ms }, deadline: 10s, ladder: [static: { file: %q }], gap: %s }\n", static(t), gap),
				func(http.ResponseWriter, *http.Request) { <-time.After(20 * time.Millisecond) })
			var shed, served [2]atomic.Int64
			var asking sync.WaitGroup
			enough := make(chan struct{})
			for i := range 40 {
				asking.Go(func() {
					q := []string{"/?q=lamps", "/?q=la"}[i%2]
					for {
						select {
						case <-enough:
							return
						case <-time.After(100 * time.Millisecond):
						}
						switch got, err := h.try("GET", q, nil); {
						case err != nil:
						case got.Header.Get("Spillway-Reason") == "shed_for_load":
							shed[i%2].Add(1)
						case got.Header.Get("Spillway-Rung") == "primary":
							served[i%2].Add(1)
						}
					}
				})
			}
			until(t, "many were shed", func() bool { return shed[0].Load()+shed[1].Load() >= 300 })
			close(enough)
			asking.Wait()
			part := func(i int) float64 {
				return float64(shed[i].Load()) / float64(max(shed[i].Load()+served[i].Load(), 1))
			}
			if part(0) < part(1)+0.1 || served[1].Load() == 0 {
				t.Errorf("%.2f were shed with gap 0.1, %.2f with gap 0.9 (%d served)", part(0), part(1), served[1].Load())
			}
		})
	}
}
