package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/anthropic"
)

var api = anthropic.New(provider.Options{})

func read(t testing.TB, path, body string) *provider.Call {
	t.Helper()
	c, err := api.Read(&provider.Request{Method: "POST", Path: path, Header: http.Header{}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What recorded calls were held for, against what the provider reported of them.
func TestWhatACallIsHeldFor(t *testing.T) {
	for _, c := range []struct {
		name, path, body    string
		least, most, output int64
		guessed             bool
	}{
		{"a recorded request of 21 tokens", "/v1/messages", `{"model":"claude-opus-4-7","max_tokens":16,"messages":[{"role":"user","content":[{"type":"text","text":"Reply with exactly OK."}]}]}`, 21, 28, 16, false},
		{"system and two messages", "/v1/messages", `{"model":"c","max_tokens":10,"system":[{"type":"text","text":"Be brief"}],"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}`, 20, 35, 10, false},
		{"no ceiling", "/v1/messages", `{"model":"c","messages":[]}`, 10, 20, 4096, false},
		{"a monstrous ceiling", "/v1/messages", `{"model":"c","max_tokens":1000000000000000000,"messages":[]}`, 10, 20, 4096, false},
		{"a picture", "/v1/messages", `{"model":"c","max_tokens":1,"messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://x/y"}}]}]}`, anthropic.ImageMost, 7100, 1, true},
		{"tools", "/v1/messages", `{"model":"c","max_tokens":1,"messages":[],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`, anthropic.ToolsBase, 900, 1, false},
		{"counting runs nothing", "/v1/messages/count_tokens", `{"model":"c","messages":[]}`, 0, 0, 0, false},
		{"spelled otherwise it costs the same", "/V1//Messages/", `{"model":"c","max_tokens":10,"messages":[]}`, 10, 20, 10, false},
		{"a path that nobody knows", "/v1/messages/batches", `{"requests":[{"params":{"model":"c","messages":[{"content":"a fox in the snow"}]}}]}`, 8, 40, 4096, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := read(t, c.path, c.body)
			if call.Input < c.least || call.Input > c.most || call.Output != c.output || call.Guessed != c.guessed {
				t.Errorf("input %d, output %d, guessed %v; want %d to %d, %d, %v", call.Input, call.Output, call.Guessed, c.least, c.most, c.output, c.guessed)
			}
		})
	}
}

func stream(frames ...string) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "data: %s\n\n", f)
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}`
	delta = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there, fox"}}`
	last  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}`
	stop  = `{"type":"message_stop"}`
)

func TestWhatIsKnownOfUsage(t *testing.T) {
	for _, c := range []struct {
		name, answer  string
		end           provider.End
		state         provider.State
		input, output int64
		failed        bool
	}{
		{"cumulative, not added up", stream(start, delta, last, stop), provider.AtEnd, provider.Reported, 130, 15, false},
		{"the start again in the end", stream(start, delta, `{"type":"message_delta","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":15}}`, stop), provider.AtEnd, provider.Reported, 130, 15, false},
		{"gone over in between", stream(start, delta, `{"type":"message_delta","usage":{"input_tokens":10,"output_tokens":15,"iterations":[{"input_tokens":60000,"output_tokens":592},{"input_tokens":682,"output_tokens":1320}]}}`, stop), provider.AtEnd, provider.Reported, 60682, 1912, false},
		{"cut by the caller: what was said by then is a placeholder", stream(start, delta, delta), provider.CutByUs, provider.Counted, 130, 12, false},
		{"cut before anything came", ``, provider.CutByUs, provider.Counted, 14, 0, false},
		{"broken off", stream(start, delta), provider.Broke, provider.Unknown, 130, 6, true},
		{"an error within", stream(start, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`), provider.AtEnd, provider.Counted, 130, 1, true},
		{"an error within, as an event", "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\"}}\n\n", provider.AtEnd, provider.Counted, 14, 0, true},
		{"ended without saying so", stream(start, delta, last), provider.AtEnd, provider.Counted, 130, 15, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, "/v1/messages", `{"model":"c","max_tokens":10,"stream":true,"messages":[]}`).Answer(http.Header{"Content-Type": {"text/event-stream"}})
			seen := string(a.Pass([]byte(c.answer)))
			s := a.End(c.end)
			if seen != c.answer {
				t.Errorf("the caller sees %q", seen)
			}
			if s.State != c.state || s.Input != c.input || s.Output != c.output || s.Failed != c.failed {
				t.Errorf("%v, input %d, output %d, failed %v; want %v, %d, %d, %v", s.State, s.Input, s.Output, s.Failed, c.state, c.input, c.output, c.failed)
			}
		})
	}
}

func TestAStreamThatBreaksOffEndsInAnErrorThatClientsRead(t *testing.T) {
	a := read(t, "/v1/messages", `{"model":"c","max_tokens":10,"stream":true,"messages":[]}`).Answer(http.Header{"Content-Type": {"text/event-stream"}})
	seen := string(a.Pass([]byte(stream(start) + `data: {"type":"con`)))
	if seen += string(a.Failure()); !strings.HasPrefix(seen, stream(start)+"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"") {
		t.Errorf("%q", seen)
	}
}

func TestDocument(t *testing.T) {
	for answer, want := range map[string]provider.Settled{
		`{"content":[{"type":"text","text":"Hello there, fox"}],"usage":{"input_tokens":10,"output_tokens":15}}`: {State: provider.Reported, Input: 10, Output: 15},
		`{"content":[{"type":"text","text":"Hello there, fox"}]}`:                                                {State: provider.Counted, Input: 14, Output: 6},
		`{"content":[{"type":"tool_use","name":"f","input":{"a":1}}],"usage":null}`:                              {State: provider.Counted, Input: 14, Output: 9},
		`{"type":"error","error":{"type":"api_error"}}`:                                                          {State: provider.Counted, Input: 14, Failed: true, Code: "api_error"},
	} {
		a := read(t, "/v1/messages", `{"model":"c","max_tokens":10,"messages":[]}`).Answer(http.Header{"Content-Type": {"application/json"}})
		a.Pass([]byte(answer))
		got := a.End(provider.AtEnd)
		got.Amounts = quota.Amounts{}
		if got != want {
			t.Errorf("%s: %+v, want %+v", answer, got, want)
		}
	}
}

// Whose trouble it is, how long it lasts, and whether the call has run.
func TestTroubles(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	limits := http.Header{
		"Anthropic-Ratelimit-Requests-Remaining":      {"3"},
		"Anthropic-Ratelimit-Requests-Reset":          {"2026-05-01T12:00:40Z"},
		"Anthropic-Ratelimit-Input-Tokens-Remaining":  {"0"},
		"Anthropic-Ratelimit-Input-Tokens-Reset":      {"2026-05-01T12:00:07Z"},
		"Anthropic-Ratelimit-Output-Tokens-Remaining": {"0"},
		"Anthropic-Ratelimit-Output-Tokens-Reset":     {"2026-05-01T12:00:11Z"},
	}
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		scope  provider.Scope
		wait   time.Duration
		ran    provider.State
		final  bool
	}{
		{"a limit, its wait from the later reset of those that are reached", 429, limits, `{"type":"error","error":{"type":"rate_limit_error"}}`, provider.OfLimit, 11 * time.Second, provider.NotRun, false},
		{"a limit that says when", 429, http.Header{"Retry-After": {"5"}}, ``, provider.OfLimit, 5 * time.Second, provider.NotRun, false},
		{"a limit that says nothing", 429, nil, ``, provider.OfLimit, 0, provider.NotRun, false},
		{"the month's money", 429, nil, `{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}`, provider.OfAccount, 0, provider.NotRun, true},
		{"an overload of theirs", 529, http.Header{"Retry-After": {"3"}}, `{"error":{"type":"overloaded_error"}}`, provider.OfRoute, 3 * time.Second, provider.NotRun, false},
		{"an overload by another status", 500, nil, `{"error":{"type":"overloaded_error"}}`, provider.OfRoute, 0, provider.NotRun, false},
		{"unavailable", 503, nil, ``, provider.OfRoute, 0, provider.NotRun, false},
		{"our key", 401, nil, `{"error":{"type":"authentication_error"}}`, provider.OfKey, 0, provider.NotRun, true},
		{"the request", 400, nil, `{"error":{"type":"invalid_request_error"}}`, provider.OfCall, 0, provider.NotRun, true},
		{"a failure within", 500, nil, `{"error":{"type":"api_error"}}`, provider.OfCall, 0, provider.Counted, false},
		{"somebody in between", 504, nil, `<html>`, provider.OfCall, 0, provider.Unknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.header == nil {
				c.header = http.Header{}
			}
			got := api.Judge(c.status, c.header, []byte(c.body), now)
			if got.Scope != c.scope || got.Wait != c.wait || got.Ran != c.ran || got.Final != c.final {
				t.Errorf("%+v, want scope %d, wait %v, ran %v, final %v", got, c.scope, c.wait, c.ran, c.final)
			}
		})
	}
	got := api.Judge(429, limits, nil, now)
	if !got.Units[quota.InputTokens] || !got.Units[quota.OutputTokens] || got.Units[quota.Requests] {
		t.Errorf("limits of %v are reached", got.Units)
	}
}

func TestTheProvidersKeyTakesThePlaceOfWhateverTheCallerSent(t *testing.T) {
	h := http.Header{"Authorization": {"Bearer caller"}, "X-Api-Key": {"caller", "twice"}}
	api.Authorize(h, "ours")
	if len(h["Authorization"]) != 0 || len(h["X-Api-Key"]) != 1 || h.Get("X-Api-Key") != "ours" || h.Get("Anthropic-Version") == "" {
		t.Errorf("%v", h)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(stream(start, delta, last, stop), "text/event-stream", 5)
	f.Add(`{"content":[{"text":"a"}],"usage":{"input_tokens":1,"iterations":[{}]}}`, "application/json", 3)
	f.Fuzz(func(t *testing.T, body, kind string, piece int) {
		a := read(t, "/v1/messages", `{"model":"c","stream":true,"messages":[]}`).Answer(http.Header{"Content-Type": {kind}})
		seen, rest := "", body
		for rest != "" {
			n := min(max(piece, 1), len(rest))
			seen += string(a.Pass([]byte(rest[:n])))
			rest = rest[n:]
		}
		if seen += string(a.Rest()); seen != body {
			t.Fatalf("%q is seen of %q", seen, body)
		}
		if s := a.End(provider.AtEnd); s.Input < 0 || s.Output < 0 || s.Input > 3*provider.TokensMost {
			t.Fatalf("%+v", s)
		}
	})
}
