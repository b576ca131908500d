package anthropic

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/parts"
	"github.com/spillway-dev/spillway/provider/scan"
	"github.com/spillway-dev/spillway/provider/tokens"
)

// API is the language. Create it with New.
type API struct {
	options provider.Options
}

// New returns the language with what is known of its models.
func New(o provider.Options) *API { return &API{o} }

var _ provider.API = (*API)(nil)

// What goes by rule; see the package.
const (
	// Margin is added to counts of text, in per cent.
	Margin = 40
	// ImageMost is the most that a picture costs, and what one costs whose size is not
	// known.
	ImageMost = 5000
	// ToolsBase is what having tools costs.
	ToolsBase = 530

	// For a request and for each of its messages; both bear the margin too.
	eachRequest = 10
	eachMessage = 3
)

// Read implements provider.API.
func (a *API) Read(q *provider.Request) (*provider.Call, error) {
	c := &provider.Call{Endpoint: endpoint(q.Path), Body: q.Body, Encoding: tokens.WithMargin(Margin)}
	if c.Endpoint == "count" || len(q.Body) == 0 && reads(q.Method) {
		return c, nil
	}
	if c.Endpoint == "other" {
		return c, a.unknown(c, q)
	}
	top, err := provider.Members(q)
	if err != nil {
		return nil, err
	}
	if err := provider.ModelOf(c, top["model"]); err != nil {
		return nil, err
	}
	m := a.options.Model(c.Model)
	c.Price, c.Dialect = m.Price, dialect{}
	if m.Margin > 0 {
		c.Encoding.Margin = m.Margin
	}
	c.Stream = string(top["stream"]) == "true"
	w := &parts.Walker{Text: c.Encoding.Count(), Rules: parts.Rules{Image: image}}
	read(w, top)
	c.Input, c.Guessed = max(w.Total(), 1), !w.Known()
	c.Output = a.options.Ceiling(ceiling(top["max_tokens"]), m)
	return c, nil
}

func endpoint(path string) string {
	path = "/" + strings.Trim(strings.ToLower(path), "/")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	switch {
	case strings.HasSuffix(path, "/messages"):
		return "messages"
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return "count"
	}
	return "other"
}

func reads(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		return true
	}
	return false
}

// unknown prices a request to a path that is not known.
func (a *API) unknown(c *provider.Call, q *provider.Request) error {
	if q.Header.Get("Content-Encoding") != "" {
		return provider.ErrCoded
	}
	c.Guessed = true
	c.Input = int64(len(q.Body)/3) + 1
	if json.Valid(q.Body) {
		if model, ok := scan.Text(scan.Member(q.Body, "model")); ok && len(model) <= provider.NameMost {
			c.Model = model
		}
		w := &parts.Walker{Text: c.Encoding.Count(), Rules: parts.Rules{Image: image}}
		w.Value(q.Body)
		c.Input = max(w.Total(), 1)
	}
	m := a.options.Model(c.Model)
	c.Price, c.Output = m.Price, a.options.Ceiling(0, m)
	return nil
}

func read(w *parts.Walker, top map[string][]byte) {
	w.Text.Add(eachRequest)
	for _, key := range provider.Keys(top) {
		v := top[key]
		switch key {
		case "messages":
			for message := range scan.Array(v) {
				w.Text.Add(eachMessage)
				w.Value(scan.Member(message, "content"))
			}
		case "system":
			w.Value(v)
		case "tools":
			if scan.Of(v) == '[' && len(v) > 2 {
				w.Text.Add(ToolsBase)
			}
			w.Text.JSON(v)
		case "model", "metadata", "thinking", "stop_sequences", "service_tier", "cache_control":
			// which no model reads
		default:
			if k := scan.Of(v); k == '{' || k == '[' {
				w.Text.JSON(v)
			}
		}
	}
}

// image is the guide's law; detail is nothing that it knows.
func image(width, height int, _ string) int64 {
	if width <= 0 || height <= 0 {
		return ImageMost
	}
	pixels := min(int64(width), 1<<20) * min(int64(height), 1<<20)
	return min(max((pixels+749)/750, 1), ImageMost)
}

func ceiling(v []byte) int64 {
	if n, ok := scan.Int(v); ok && n > 0 && n < math.MaxInt64 {
		return n
	}
	return 0
}
