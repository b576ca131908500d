package anthropic

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/scan"
)

// dialect reads the answers of messages.
type dialect struct{}

// Ends implements provider.Dialect: a stream says so itself.
func (dialect) Ends() bool { return true }

// Event implements provider.Dialect. Usage is a part of what every client reads; none
// of it is hidden.
func (dialect) Event(h *provider.Heard, event string, data []byte, _ bool) []byte {
	var delta, usage, message, block, problem []byte
	kind := event
	for k, v := range scan.Object(data) {
		switch string(k) {
		case "type":
			if raw, ok := scan.Raw(v); ok && kind == "" { // some relays leave the event's name out
				kind = string(raw)
			}
		case "delta":
			delta = v
		case "usage":
			usage = v
		case "message":
			message = v
		case "content_block":
			block = v
		case "error":
			problem = v
		}
	}
	switch kind {
	case "content_block_delta":
		sayDelta(h, delta)
	case "content_block_start":
		sayText(h, scan.Member(block, "name"))
	case "message_start":
		readUsage(h, scan.Member(message, "usage"))
	case "message_delta":
		readUsage(h, usage)
	case "message_stop":
		h.Last = true
	case "error":
		code, _ := scan.Text(scan.Member(problem, "type"))
		h.Fail(code)
	}
	return data
}

func sayDelta(h *provider.Heard, delta []byte) {
	for k, v := range scan.Object(delta) {
		switch string(k) {
		case "text", "partial_json", "thinking":
			sayText(h, v)
		}
	}
}

func sayText(h *provider.Heard, v []byte) {
	if raw, ok := scan.Raw(v); ok {
		h.Say(raw)
	}
}

// readUsage takes what is said of usage. Its figures grow within an answer: the first
// names a few tokens of output, the last all of them. Where the provider has gone over
// the conversation itself in between (iterations), what each time used is added up; the
// figures beside are those of the last one alone.
func readUsage(h *provider.Heard, usage []byte) {
	one := oneUsage(usage)
	raise(&h.Usage, &one)
	var all provider.Usage
	for turn := range scan.Array(scan.Member(usage, "iterations")) {
		one := oneUsage(turn)
		all.Input.Most(all.Input.N + one.Input.N)
		all.Output.Most(all.Output.N + one.Output.N)
	}
	raise(&h.Usage, &all)
}

func oneUsage(usage []byte) (u provider.Usage) {
	var input provider.Count
	for k, v := range scan.Object(usage) {
		switch string(k) {
		case "input_tokens":
			input.Raise(v)
		case "cache_read_input_tokens":
			u.CacheRead.Raise(v)
		case "cache_creation_input_tokens":
			u.CacheWrite.Raise(v)
		case "output_tokens":
			u.Output.Raise(v)
		}
	}
	if input.Said {
		u.Input.Most(input.N + u.CacheRead.N + u.CacheWrite.N)
	}
	return u
}

func raise(to, by *provider.Usage) {
	for _, c := range []struct{ to, by *provider.Count }{
		{&to.Input, &by.Input}, {&to.Output, &by.Output}, {&to.CacheRead, &by.CacheRead}, {&to.CacheWrite, &by.CacheWrite},
	} {
		if c.by.Said {
			c.to.Most(c.by.N)
		}
	}
}

// Keys implements provider.Dialect.
func (dialect) Keys() []string { return []string{"usage", "error", "content"} }

// Document implements provider.Dialect.
func (dialect) Document(h *provider.Heard, member func(string) []byte) {
	readUsage(h, member("usage"))
	if e := member("error"); !scan.Null(e) {
		code, _ := scan.Text(scan.Member(e, "type"))
		h.Fail(code)
	}
	for block := range scan.Array(member("content")) {
		sayDelta(h, block)
		sayText(h, scan.Member(block, "name"))
		if input := scan.Member(block, "input"); len(input) > 0 {
			h.Say(input)
		}
	}
}

// Failure implements provider.Dialect.
func (dialect) Failure(message string) []byte {
	b, _ := json.Marshal(message)
	return append(append([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":"), b...), "}}\n\n"...)
}

// Told implements provider.API. The resets are instants.
func (a *API) Told(h http.Header, now time.Time) (t provider.Told) {
	for _, l := range []struct {
		of   string
		unit quota.Unit
	}{{"Requests", quota.Requests}, {"Tokens", quota.Tokens}, {"Input-Tokens", quota.InputTokens}, {"Output-Tokens", quota.OutputTokens}} {
		name := "Anthropic-Ratelimit-" + l.of
		t[l.unit] = provider.Limits(h.Get(name+"-Limit"), h.Get(name+"-Remaining"), h.Get(name+"-Reset"), now)
	}
	return t
}

// Judge implements provider.API.
func (a *API) Judge(status int, h http.Header, body []byte, now time.Time) provider.Trouble {
	t := provider.Judged(status)
	problem, code := provider.Coded(body)
	t.Code = code
	if wait, ok := provider.Heading(h, now); ok {
		t.Wait = wait
	}
	if code == "overloaded_error" {
		t.Scope, t.Ran, t.Final = provider.OfRoute, provider.NotRun, false
	}
	if t.Scope != provider.OfLimit {
		return t
	}
	detail, _ := scan.Text(scan.Path(problem, "details", "error_code"))
	if detail == "enforced_spend_limit_reached" || code == "billing_error" {
		t.Scope, t.Final = provider.OfAccount, true
		return t
	}
	told := a.Told(h, now)
	if wait := t.Exhausted(&told); t.Wait == 0 {
		t.Wait = wait
	}
	return t
}

// Authorize implements provider.API.
func (a *API) Authorize(h http.Header, key string) {
	delete(h, "Authorization")
	h["X-Api-Key"] = []string{key}
	if h["Anthropic-Version"] == nil {
		h["Anthropic-Version"] = []string{"2023-06-01"}
	}
}

// kinds are what errors of ours are to Anthropic's clients.
var kinds = [...]string{
	provider.Broken: "api_error", provider.Overloaded: "overloaded_error", provider.Limited: "rate_limit_error",
	provider.Denied: "authentication_error", provider.Invalid: "invalid_request_error",
}

// Problem implements provider.API.
func (a *API) Problem(kind provider.Kind, message string) []byte {
	b, _ := json.Marshal(struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}{kinds[kind], message})
	return b
}
