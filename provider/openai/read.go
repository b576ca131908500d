package openai

import (
	"encoding/json"
	"fmt"
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

// What goes by rule, in tokens.
const (
	// Elsewhere is for what a request leans on that the provider keeps.
	Elsewhere = 8192
	// Of chat, as OpenAI's own guide counts it: for each message, and for the answer's
	// beginning.
	eachMessage = 4
	answerStart = 3
	// choicesMost is the most answers that one request can ask for.
	choicesMost = 128
)

// Read implements provider.API.
func (a *API) Read(q *provider.Request) (*provider.Call, error) {
	c := &provider.Call{Endpoint: endpoint(q.Path), Body: q.Body}
	if len(q.Body) == 0 && reads(q.Method) {
		c.Endpoint = "other"
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
	c.Price, c.Encoding = m.Price, tokens.For(c.Model)
	if m.Margin > 0 {
		c.Encoding.Margin = m.Margin
	}
	c.Stream = string(top["stream"]) == "true"
	c.Dialect = dialect{c.Endpoint}
	w := &parts.Walker{Text: c.Encoding.Count(), Rules: parts.Rules{Image: imageRule(c.Model)}}
	read(w, c.Endpoint, top)
	c.Input, c.Guessed = max(w.Total(), 1), !w.Known()
	if c.Endpoint != "embeddings" {
		c.Output = a.options.Ceiling(ceiling(top), m) * choices(top)
	}
	if c.Stream && !q.Plain && (c.Endpoint == "chat" || c.Endpoint == "completions") {
		askForUsage(c, q.Body, top["stream_options"])
	}
	return c, nil
}

// endpoints are the ends of the paths that are known.
var endpoints = []struct{ end, name string }{
	{"/chat/completions", "chat"}, {"/completions", "completions"}, {"/responses", "responses"}, {"/embeddings", "embeddings"},
}

// endpoint returns the one that a path goes to, however it is spelled: a service that
// takes no notice of case or of doubled slashes must not be cheaper for it.
func endpoint(path string) string {
	path = "/" + strings.Trim(strings.ToLower(path), "/")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	for _, e := range endpoints {
		if strings.HasSuffix(path, e.end) {
			return e.name
		}
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

// unknown prices a request to a path that is not known: what of it is JSON as parts,
// all else by its length, as text.
func (a *API) unknown(c *provider.Call, q *provider.Request) error {
	if q.Header.Get("Content-Encoding") != "" {
		return provider.ErrCoded
	}
	if json.Valid(q.Body) {
		if model, ok := scan.Text(scan.Member(q.Body, "model")); ok && len(model) <= provider.NameMost {
			c.Model = model
		}
	}
	m := a.options.Model(c.Model)
	c.Price, c.Guessed, c.Encoding = m.Price, true, tokens.For(c.Model)
	c.Output = a.options.Ceiling(0, m)
	if json.Valid(q.Body) {
		w := &parts.Walker{Text: c.Encoding.Count(), Rules: parts.Rules{Image: imageRule(c.Model)}}
		w.Value(q.Body)
		c.Input = max(w.Total(), 1)
		return nil
	}
	c.Input = int64(len(q.Body)/4) + 1
	return nil
}

// read prices what a request holds.
func read(w *parts.Walker, endpoint string, top map[string][]byte) {
	for _, key := range provider.Keys(top) {
		v := top[key]
		switch key {
		case "messages":
			for message := range scan.Array(v) {
				w.Text.Add(eachMessage)
				readMessage(w, message)
			}
			w.Text.Add(answerStart)
		case "input":
			readInput(w, v, endpoint)
		case "prompt":
			readPrompt(w, v)
		case "previous_response_id", "conversation":
			if !scan.Null(v) {
				w.Text.Add(Elsewhere)
				w.Guessed = true
			}
		case "model", "user", "metadata", "service_tier", "stream_options", "prompt_cache_key", "safety_identifier", "include", "encoding_format", "logit_bias", "modalities":
			// which no model reads
		case "instructions", "suffix":
			w.Value(v)
		default:
			if k := scan.Of(v); k == '{' || k == '[' {
				w.Text.JSON(v) // tools, formats, and what is not known, names and all
			}
		}
	}
}

func readMessage(w *parts.Walker, message []byte) {
	for key, v := range scan.Object(message) {
		switch string(key) {
		case "role":
		case "name":
			w.Text.Add(1)
			w.Value(v)
		case "content":
			w.Value(v)
		case "tool_calls", "function_call":
			w.Text.JSON(v)
		default:
			w.Value(v)
		}
	}
}

// readInput prices the input of a response, or of embeddings: texts, or tokens as
// numbers.
func readInput(w *parts.Walker, v []byte, endpoint string) {
	if endpoint == "embeddings" {
		readPrompt(w, v)
		return
	}
	if scan.Of(v) != '[' {
		w.Value(v)
		return
	}
	for item := range scan.Array(v) {
		w.Text.Add(eachMessage)
		if scan.Is(scan.Member(item, "type"), "item_reference") {
			w.Text.Add(Elsewhere)
			w.Guessed = true
		}
		w.Value(item)
	}
}

// readPrompt prices texts: one, or several, or tokens as numbers, of which each is one.
// A prompt that the provider keeps is named by an object.
func readPrompt(w *parts.Walker, v []byte) {
	switch k := scan.Of(v); {
	case k == '[':
		for e := range scan.Array(v) {
			readPrompt(w, e)
		}
	case k == '"':
		w.Value(v)
	case k == '{':
		w.Text.Add(Elsewhere)
		w.Guessed = true
		w.Value(v)
	case k == '-' || '0' <= k && k <= '9':
		w.Text.Add(1)
	}
}

// ceiling returns the output that the caller allows, 0 where it says nothing that
// means anything: the least of what it says.
func ceiling(top map[string][]byte) int64 {
	least := int64(math.MaxInt64)
	for _, key := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		if n, ok := scan.Int(top[key]); ok && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// choices returns how many answers are asked for.
func choices(top map[string][]byte) int64 {
	most := int64(1)
	for _, key := range []string{"n", "best_of"} {
		if n, ok := scan.Int(top[key]); ok {
			most = max(most, n)
		}
	}
	if scan.Of(top["prompt"]) == '[' {
		texts := int64(0)
		for e := range scan.Array(top["prompt"]) {
			if k := scan.Of(e); k == '"' || k == '[' {
				texts++ // each is answered
			}
		}
		most *= max(texts, 1)
	}
	return min(most, choicesMost)
}

// askForUsage has the body ask for usage, where it does not.
func askForUsage(c *provider.Call, body, options []byte) {
	const ask = `"include_usage":true`
	if scan.Is(options, "") || string(scan.Member(options, "include_usage")) == "true" {
		return
	}
	var added []byte
	switch {
	case options == nil:
		at := strings.IndexByte(string(body[:min(len(body), 64)]), '{')
		if at < 0 {
			return
		}
		added = fmt.Appendf(added, "%s{\"stream_options\":{%s},%s", body[:at], ask, body[at+1:])
	case scan.Of(options) == '{' || string(options) == "null":
		at := cap(body) - cap(options) // it is a part of the body
		added = append(added, body[:at]...)
		added = append(added, '{')
		for k, v := range scan.Object(options) {
			if string(k) != "include_usage" {
				quoted, _ := json.Marshal(string(k))
				added = append(append(append(append(added, quoted...), ':'), v...), ',')
			}
		}
		added = append(append(added, ask...), '}')
		added = append(added, body[at+len(options):]...)
	default:
		return // the service will say what is wrong with it
	}
	c.Plain, c.Body = body, added
}
