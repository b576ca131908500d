package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/openai"
)

var api = openai.New(provider.Options{Models: []provider.Model{
	{Name: "small", Output: 100, Price: provider.Price{Input: 2_500_000, Output: 10_000_000}},
	{Name: "gpt-*", Output: 16_384},
}})

func read(t testing.TB, path, body string) *provider.Call {
	t.Helper()
	c, err := api.Read(&provider.Request{Method: "POST", Path: path, Header: http.Header{}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatACallIsHeldFor(t *testing.T) {
	image := `{"type":"image_url","image_url":{"url":"https://x/y.png"}}`
	for _, c := range []struct {
		name, path, body string
		input, output    int64
		guessed          bool
	}{
		{"chat", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"Say hello to the fox"}]}`, 12, 4096, false},
		{"two messages, a name", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief"},{"role":"user","name":"ann","content":"Hi"}]}`, 16, 4096, false},
		{"parts", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"text","text":"Say hello to the fox"},` + image + `]}]}`, 12 + 85 + 8*170, 4096, true},
		{"tools are text", "/v1/chat/completions", `{"model":"gpt-4o","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`, 22, 4096, false},
		{"what is kept elsewhere", "/v1/responses", `{"model":"gpt-4o","input":"Hi","previous_response_id":"resp_1"}`, 1 + openai.Elsewhere, 4096, true},
		{"responses", "/v1/responses", `{"model":"gpt-4o","instructions":"Be brief","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"max_output_tokens":50}`, 9, 50, false},
		{"completions", "/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":"Say this is a test","max_tokens":7}`, 5, 7, false},
		{"several prompts are several answers", "/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":["a","b","c"],"max_tokens":7}`, 3, 21, false},
		{"prompts as tokens", "/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":[1,2,3,4],"max_tokens":7}`, 4, 7, false},
		{"embeddings have no output", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a fox","a dog"]}`, 4, 0, false},
		{"the model's own ceiling", "/v1/chat/completions", `{"model":"small","messages":[]}`, 4, 100, false},
		{"spelled otherwise it costs the same", "//V1//Chat/Completions/", `{"model":"gpt-4o","messages":[{"role":"user","content":"Say hello to the fox"}]}`, 12, 4096, false},
		{"a path that nobody knows", "/v1/images/generations", `{"model":"gpt-image","prompt":"a fox in the snow"}`, 10, 4096, true},
		{"and a body that is no JSON", "/v1/audio/transcriptions", strings.Repeat("x", 4000), 1001, 4096, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := read(t, c.path, c.body)
			if call.Input != c.input || call.Output != c.output || call.Guessed != c.guessed {
				t.Errorf("input %d, output %d, guessed %v; want %d, %d, %v", call.Input, call.Output, call.Guessed, c.input, c.output, c.guessed)
			}
		})
	}
}

// A caller's ceiling is believed where it is one, and never makes a call dearer than
// the configuration allows: who asks for much, or for nonsense, freezes nobody else.
func TestCeilings(t *testing.T) {
	for _, c := range []struct {
		ceiling string
		want    int64
	}{
		{``, 4096}, {`"max_tokens":10,`, 10}, {`"max_completion_tokens":10,`, 10}, {`"max_tokens":20,"max_completion_tokens":10,`, 10},
		{`"max_tokens":0,`, 4096}, {`"max_tokens":-1,`, 4096}, {`"max_tokens":1000000000000000000,`, 4096}, {`"max_tokens":1e400,`, 4096},
		{`"max_tokens":12.5,`, 4096}, {`"max_tokens":"10",`, 4096}, {`"max_tokens":null,`, 4096}, {`"max_tokens":[10],`, 4096},
		{`"max_tokens":10,"n":3,`, 30}, {`"max_tokens":10,"n":128,`, 1280}, {`"max_tokens":10,"n":100000000000,`, 1280},
		{`"max_tokens":10,"n":0,`, 10}, {`"max_tokens":10,"n":-5,`, 10}, {`"max_tokens":10,"n":"3",`, 10},
	} {
		if got := read(t, "/v1/chat/completions", `{`+c.ceiling+`"model":"gpt-4o","messages":[]}`).Output; got != c.want {
			t.Errorf("%s held for %d, want %d", c.ceiling, got, c.want)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	for name, q := range map[string]provider.Request{
		"no JSON":                   {Body: []byte(`{"model":`)},
		"no object":                 {Body: []byte(`[{"model":"gpt-4o"}]`)},
		"nothing":                   {Body: []byte(``)},
		"no model":                  {Body: []byte(`{"messages":[]}`)},
		"a model that is no text":   {Body: []byte(`{"model":7}`)},
		"a model's name too long":   {Body: []byte(`{"model":"` + strings.Repeat("x", 200) + `"}`)},
		"a model that breaks lines": {Body: []byte(`{"model":"gpt\n4"}`)},
		"a member twice":            {Body: []byte(`{"model":"gpt-4o","max_tokens":1,"max_tokens":9999}`)},
		"a member twice, disguised": {Body: []byte(`{"model":"gpt-4o","max_tokens":1,"max\u005ftokens":9999}`)},
		"a compressed body":         {Body: []byte(`{"model":"gpt-4o"}`), Header: http.Header{"Content-Encoding": {"gzip"}}},
	} {
		q.Method, q.Path = "POST", "/v1/chat/completions"
		if q.Header == nil {
			q.Header = http.Header{}
		}
		if c, err := api.Read(&q); err == nil {
			t.Errorf("%s: %+v", name, c)
		} else if strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: %q is more than a line", name, err)
		}
	}
}

func TestUsageIsAskedForWithNothingElseChanged(t *testing.T) {
	const rest = `"model":"gpt-4o", "stream" : true ,"messages":[]`
	for _, c := range []struct{ body, want string }{
		{`{` + rest + `}`, `{"stream_options":{"include_usage":true},` + rest + `}`},
		{` {` + rest + `}`, ` {"stream_options":{"include_usage":true},` + rest + `}`},
		{`{"stream_options":null,` + rest + `}`, `{"stream_options":{"include_usage":true},` + rest + `}`},
		{`{"stream_options":{},` + rest + `}`, `{"stream_options":{"include_usage":true},` + rest + `}`},
		{`{` + rest + `,"stream_options":{"include_usage":false,"include_obfuscation": false}}`, `{` + rest + `,"stream_options":{"include_obfuscation":false,"include_usage":true}}`},
		{`{"stream_options":{"include_usage":true},` + rest + `}`, ``},
		{`{"stream_options":"yes",` + rest + `}`, ``},
		{`{"model":"gpt-4o","messages":[]}`, ``},
		{`{"model":"gpt-4o","stream":false,"messages":[]}`, ``},
	} {
		call := read(t, "/v1/chat/completions", c.body)
		want := c.want
		if want == "" {
			want = c.body
		}
		if string(call.Body) != want || (call.Plain != nil) != (c.want != "") {
			t.Errorf("%s\n is sent as %s,\n want %s", c.body, call.Body, want)
		}
		if call.Plain != nil && string(call.Plain) != c.body {
			t.Errorf("%s\n without what was added is %s", c.body, call.Plain)
		}
	}
	refused, err := api.Read(&provider.Request{Method: "POST", Path: "/v1/chat/completions", Header: http.Header{}, Body: []byte(`{` + rest + `}`), Plain: true})
	if err != nil || refused.Plain != nil {
		t.Errorf("asked for of a service that refuses it: %s", refused.Body)
	}
	if c := read(t, "/v1/responses", `{"model":"gpt-4o","stream":true,"input":"a"}`); c.Plain != nil {
		t.Errorf("asked for of responses, which say it anyway: %s", c.Body)
	}
}

// stream is an answer in frames.
func stream(frames ...string) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "data: %s\n\n", f)
	}
	return b.String()
}

// pass sends a stream through and returns what the caller sees.
func pass(c *provider.Call, kind, body string, piece int, end provider.End) (seen string, s provider.Settled) {
	a := c.Answer(http.Header{"Content-Type": {kind}})
	for body != "" {
		n := min(max(piece, 1), len(body))
		seen += string(a.Pass([]byte(body[:n])))
		body = body[n:]
	}
	if end == provider.Broke {
		seen += string(a.Failure())
	} else {
		seen += string(a.Rest())
	}
	return seen, a.End(end)
}

const (
	hello = `{"choices":[{"index":0,"delta":{"content":"Hello there, fox"}}],"usage":null}`
	plain = `{"choices":[{"index":0,"delta":{"content":"Hello there, fox"}}]}`
	used  = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`
)

func TestUsageIsHiddenFromWhoDidNotAsk(t *testing.T) {
	answer := stream(hello, used, "[DONE]")
	for _, c := range []struct{ options, want string }{
		{``, stream(plain, "[DONE]")},
		{`"stream_options":{"include_usage":false},`, stream(plain, "[DONE]")},
		{`"stream_options":{"include_obfuscation":true},`, stream(plain, "[DONE]")},
		{`"stream_options":{"include_usage":true},`, answer},
	} {
		for _, piece := range []int{1, 7, 4096} {
			call := read(t, "/v1/chat/completions", `{`+c.options+`"model":"gpt-4o","stream":true,"messages":[]}`)
			seen, s := pass(call, "text/event-stream; charset=utf-8", answer, piece, provider.AtEnd)
			if seen != c.want {
				t.Errorf("%s in pieces of %d: the caller sees\n%s want\n%s", c.options, piece, seen, c.want)
			}
			if s.State != provider.Reported || s.Input != 9 || s.Output != 5 || s.Failed {
				t.Errorf("%s: %+v", c.options, s)
			}
		}
	}
}

func TestWhatIsKnownOfUsage(t *testing.T) {
	count := int64(4) // of "Hello there, fox"
	for _, c := range []struct {
		name, answer  string
		end           provider.End
		state         provider.State
		input, output int64
		failed        bool
	}{
		{"reported", stream(hello, used, "[DONE]"), provider.AtEnd, provider.Reported, 9, 5, false},
		{"on every chunk, growing", stream(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}`, "[DONE]"), provider.AtEnd, provider.Reported, 9, 5, false},
		{"elsewhere", stream(plain, `{"choices":[],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":5}}}`, "[DONE]"), provider.AtEnd, provider.Reported, 9, 5, false},
		{"zero is a figure", stream(hello, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, "[DONE]"), provider.AtEnd, provider.Reported, 0, 0, false},
		{"reasoning beside the output", stream(hello, `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":354}}`, "[DONE]"), provider.AtEnd, provider.Reported, 12, 342, false},
		{"absent", stream(plain, "[DONE]"), provider.AtEnd, provider.Counted, 4, count, false},
		{"null", stream(hello, `{"choices":[],"usage":null}`, "[DONE]"), provider.AtEnd, provider.Counted, 4, count, false},
		{"empty", stream(hello, `{"choices":[],"usage":{}}`, "[DONE]"), provider.AtEnd, provider.Counted, 4, count, false},
		{"in part", stream(hello, `{"choices":[],"usage":{"prompt_tokens":9}}`, "[DONE]"), provider.AtEnd, provider.Counted, 9, count, false},
		{"nonsense", stream(hello, `{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":"many"}}`, "[DONE]"), provider.AtEnd, provider.Counted, 4, count, false},
		{"cut by the caller before anything came", ``, provider.CutByUs, provider.Counted, 4, 0, false},
		{"cut by the caller", stream(hello), provider.CutByUs, provider.Counted, 4, count, false},
		{"cut by the caller, when all was said", stream(hello, used, "[DONE]"), provider.CutByUs, provider.Reported, 9, 5, false},
		{"broken off by the service", stream(hello), provider.Broke, provider.Unknown, 4, count, true},
		{"broken off after the end", stream(hello, used, "[DONE]"), provider.Broke, provider.Reported, 9, 5, false},
		{"ended without saying so", stream(hello), provider.AtEnd, provider.Counted, 4, count, true},
		{"an error within", stream(hello, `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}`), provider.AtEnd, provider.Counted, 4, count, true},
		{"an error in the other dialect", stream(`{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`), provider.AtEnd, provider.Counted, 4, 0, true},
		{"an error named as an event", "event: error\ndata: {\"message\":\"x\"}\n\n", provider.AtEnd, provider.Counted, 4, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := read(t, "/v1/chat/completions", `{"model":"small","stream":true,"messages":[]}`)
			call.Encoding.Margin = 0
			_, s := pass(call, "text/event-stream", c.answer, 11, c.end)
			if s.State != c.state || s.Input != c.input || s.Output != c.output || s.Failed != c.failed {
				t.Errorf("%v, input %d, output %d, failed %v; want %v, %d, %d, %v", s.State, s.Input, s.Output, s.Failed, c.state, c.input, c.output, c.failed)
			}
			if want := (c.input*25 + c.output*100 + 9) / 10; s.Amounts[quota.Money] != want || s.Amounts[quota.Tokens] != c.input+c.output {
				t.Errorf("amounts %v, want %d of money", s.Amounts, want)
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, path, body, answer string
		state                    provider.State
		input, output            int64
		failed                   bool
	}{
		{"chat", "/v1/chat/completions", `"messages":[]`, `{"choices":[{"message":{"content":"Hello there, fox"}}],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`, provider.Reported, 9, 5, false},
		{"chat without usage", "/v1/chat/completions", `"messages":[]`, `{"choices":[{"message":{"content":"Hello there, fox","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`, provider.Counted, 4, 6, false},
		{"completions without usage", "/v1/completions", `"prompt":"a"`, `{"choices":[{"text":"Hello there, fox"}]}`, provider.Counted, 2, 4, false},
		{"responses", "/v1/responses", `"input":"a"`, `{"status":"completed","output":[{"content":[{"text":"Hello there, fox"}]}],"usage":{"input_tokens":9,"output_tokens":5,"total_tokens":14}}`, provider.Reported, 9, 5, false},
		{"responses without usage", "/v1/responses", `"input":"a"`, `{"output":[{"content":[{"text":"Hello there, fox"}]}],"usage":null}`, provider.Counted, 2, 4, false},
		{"a response that failed", "/v1/responses", `"input":"a"`, `{"status":"failed","output":[],"usage":{"input_tokens":9,"output_tokens":0}}`, provider.Reported, 9, 0, true},
		{"embeddings", "/v1/embeddings", `"input":"a"`, `{"data":[{"embedding":[` + strings.Repeat("0.25,", 100_000) + `0.5]}],"usage":{"prompt_tokens":9,"total_tokens":9}}`, provider.Reported, 9, 0, false},
		{"cut short", "/v1/chat/completions", `"messages":[]`, `{"choices":[{"message":{"content":"Hello`, provider.Counted, 4, 100, false},
		{"no JSON", "/v1/chat/completions", `"messages":[]`, `Hello there`, provider.Counted, 4, 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := read(t, c.path, `{"model":"small",`+c.body+`}`)
			call.Encoding.Margin = 0
			seen, s := pass(call, "application/json", c.answer, 1000, provider.AtEnd)
			if seen != c.answer {
				t.Error("the document was changed")
			}
			if s.State != c.state || s.Input != c.input || s.Output != c.output || s.Failed != c.failed {
				t.Errorf("%v, input %d, output %d, failed %v; want %v, %d, %d, %v", s.State, s.Input, s.Output, s.Failed, c.state, c.input, c.output, c.failed)
			}
		})
	}
}

func TestAStreamThatBreaksOffEndsInAnErrorThatClientsRead(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": stream(plain) + "data: {\"error\":{",
		"/v1/responses":        stream(hello) + "event: error\ndata: {\"type\":\"error\",",
	} {
		call := read(t, path, `{"model":"small","stream":true,"messages":[],"input":"a"}`)
		seen, s := pass(call, "text/event-stream", stream(hello)+`data: {"choi`, 5, provider.Broke)
		if !strings.HasPrefix(seen, want) || !strings.HasSuffix(seen, "}\n\n") || !s.Failed || s.State != provider.Unknown {
			t.Errorf("%s: %q %+v", path, seen, s)
		}
	}
}

// Recorded streams of eight services: what they say they used is what is settled, and
// what they sent reaches a caller that asked for it byte by byte.
func TestRecordedStreams(t *testing.T) {
	folder := filepath.Join(os.Getenv("SPILLWAY_DATA"), "llm-streams")
	if _, err := os.Stat(folder); os.Getenv("SPILLWAY_DATA") == "" || err != nil {
		t.Skip("no recorded streams: set SPILLWAY_DATA")
	}
	for _, c := range []struct {
		file          string
		input, output int64
		endpoint      string
		failed        bool
	}{
		{"openai-text", 16, 300, "chat/completions", false}, {"openai-completion-text", 14, 16, "completions", false},
		{"groq-text", 45, 662, "chat/completions", false}, {"groq-reasoning", 0, 1107, "chat/completions", false},
		{"deepseek-text", 0, 400, "chat/completions", false}, {"xai-text", 12, 342, "chat/completions", false},
		{"alibaba-text", 18, 779, "chat/completions", false}, {"mistral-text", 13, 8, "chat/completions", false},
		{"azure-model-router", 0, 0, "chat/completions", false}, {"openai-error", 0, 0, "responses", true},
	} {
		raw, err := os.ReadFile(filepath.Join(folder, c.file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		answer := stream(strings.Split(strings.TrimSpace(string(raw)), "\n")...)
		if c.endpoint != "responses" {
			answer += stream("[DONE]")
		}
		for _, asked := range []bool{false, true} {
			call := read(t, "/v1/"+c.endpoint, fmt.Sprintf(`{"model":"gpt-4o","stream":true,"messages":[],"input":"a","prompt":"a","stream_options":{"include_usage":%v}}`, asked))
			seen, s := pass(call, "text/event-stream", answer, 997, provider.AtEnd)
			if asked && seen != answer {
				t.Errorf("%s was changed", c.file)
			}
			if c.endpoint != "responses" && !asked && (strings.Contains(seen, `"usage":{"prompt`) || strings.Contains(seen, `"usage":null`)) {
				t.Errorf("%s shows usage", c.file)
			}
			if s.Failed != c.failed || c.output > 0 && (s.State != provider.Reported || s.Output != c.output) || c.input > 0 && s.Input != c.input {
				t.Errorf("%s: %+v", c.file, s)
			}
		}
	}
}

// Where a stream is cut into pieces changes neither what a caller sees nor what is
// settled.
func TestPiecesChangeNothing(t *testing.T) {
	frames := []string{hello, used, `{"choices":[{"delta":{"content":"漢字 é \"q\" \\n"}}],"usage":null}`, `{"error":{"type":"x"}}`, "[DONE]", `{"choices":[`}
	rapid.Check(t, func(t *rapid.T) {
		answer := stream(rapid.SliceOf(rapid.SampledFrom(frames)).Draw(t, "frames")...)
		body := []byte(`{"model":"gpt-4o","stream":true,"messages":[]}`)
		read := func() *provider.Call {
			c, _ := api.Read(&provider.Request{Method: "POST", Path: "/v1/chat/completions", Header: http.Header{}, Body: body})
			return c
		}
		whole, want := pass(read(), "text/event-stream", answer, len(answer), provider.AtEnd)
		cut, got := pass(read(), "text/event-stream", answer, rapid.IntRange(1, 40).Draw(t, "piece"), provider.AtEnd)
		if cut != whole || got != want {
			t.Fatalf("%q\n%+v, want %q\n%+v", cut, got, whole, want)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("/v1/chat/completions", `{"model":"gpt-4o","stream":true,"stream_options":{"x":1},"messages":[{"content":[{"type":"image_url"}]}]}`)
	f.Add("/v1/responses", `{"model":"a","input":[{"type":"item_reference"}],"prompt":{"id":"a"}}`)
	f.Add("/v1/completions", `{"model":"a","prompt":[[1],[2]],"best_of":3}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		c, err := api.Read(&provider.Request{Method: "POST", Path: path, Header: http.Header{}, Body: []byte(body)})
		if err != nil {
			return
		}
		if c.Input < 0 || c.Output < 0 || c.Input == 0 && body != "" {
			t.Fatalf("%+v", c)
		}
		if c.Plain != nil {
			var sent struct {
				Options struct {
					Usage bool `json:"include_usage"`
				} `json:"stream_options"`
			}
			if json.Unmarshal(c.Body, &sent) != nil || !sent.Options.Usage {
				t.Fatalf("%s is sent as %s", body, c.Body)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(stream(hello, used, "[DONE]"), "text/event-stream", 5)
	f.Add(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, "application/json", 3)
	f.Fuzz(func(t *testing.T, body, kind string, piece int) {
		call := read(t, "/v1/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[]}`)
		seen, s := pass(call, kind, body, piece, provider.AtEnd)
		if len(seen) > len(body)+len(body) || s.Input < 0 || s.Output < 0 || s.Input > provider.TokensMost || s.Output > provider.TokensMost {
			t.Fatalf("%d bytes seen of %d, %+v", len(seen), len(body), s)
		}
	})
}
