package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/test/provider"
)

const theirs = "sk-the-providers-own-key"

// provide runs a gateway in front of a provider.
func provide(t testing.TB, p *provider.Server, kind, class string, change ...func(*gateway.Options)) *harness {
	t.Helper()
	text := fmt.Sprintf(`version: 1
upstreams: { app: { url: %q, provider: { kind: %s, key: %q } } }
classes:
  all: { match: { path: "/*" }, upstream: app, slots: 8%s }
`, p.URL, kind, theirs, class)
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return startConfig(t, cfg, change...)
}

// post sends a request as a client of a provider does.
func post(t testing.TB, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer callers-secret")
	r.Header.Set("X-Api-Key", "callers-secret")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, b)
	}
	return res, string(b)
}

const (
	chat   = `{"model":"gpt-4o","messages":[{"role":"user","content":"Say five words"}]}`
	chatS  = `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Say five words"}]}`
	claude = `{"model":"claude-x","max_tokens":50,"messages":[{"role":"user","content":"Say five words"}]}`
)

func TestAProviderSeesItsOwnKeyAndNothingOfTheCallers(t *testing.T) {
	for kind, path := range map[string]string{"openai": "/v1/chat/completions", "anthropic": "/v1/messages"} {
		p := provider.Start(t, provider.Config{Key: theirs, Header: map[string]string{
			"Set-Cookie": "__cf_bm=1", "Openai-Organization": "org-ours", "X-Ratelimit-Remaining-Requests": "50", "Anthropic-Ratelimit-Requests-Remaining": "50",
		}})
		h := provide(t, p, kind, "")
		body := chat
		if kind == "anthropic" {
			body = claude
		}
		res, text := post(t, h.url+path, body, "Cookie", "sid=callers-secret", "Openai-Organization", "callers-secret")
		if res.StatusCode != 200 || !strings.Contains(text, "wörd4") {
			t.Fatalf("%s: %d %s", kind, res.StatusCode, text)
		}
		for name, values := range p.Calls()[0].Header {
			if strings.Contains(strings.Join(values, ""), "callers-secret") || strings.HasPrefix(name, "X-Forwarded") {
				t.Errorf("%s: the provider sees %s: %v", kind, name, values)
			}
		}
		for name, values := range res.Header {
			if name == "Set-Cookie" || name == "Openai-Organization" || strings.Contains(name, "Ratelimit") || strings.Contains(strings.Join(values, ""), theirs) {
				t.Errorf("%s: the caller sees %s: %v", kind, name, values)
			}
		}
	}
}

// The key is in no log, page, error or answer, whatever the provider says of it.
func TestTheProvidersKeyIsShownNowhere(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	p := provider.Start(t, provider.Config{Key: "another"})
	h := provide(t, p, "openai", "", func(o *gateway.Options) {
		o.Logger = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	res, text := post(t, h.url+"/v1/chat/completions", chat)
	if res.StatusCode != http.StatusBadGateway || res.Header.Get("X-Should-Retry") != "false" || !strings.Contains(text, `"type":"server_error"`) {
		t.Errorf("a key that is not taken: %d %v %s", res.StatusCode, res.Header, text)
	}
	shown := text
	for _, path := range []string{"/config", "/metrics", "/explain", "/limits", "/"} {
		if res, err := http.Get(h.admin + path); err == nil {
			b, _ := io.ReadAll(res.Body)
			res.Body.Close()
			shown += string(b)
		}
	}
	h.stop()
	mu.Lock()
	defer mu.Unlock()
	if shown += log.String(); strings.Contains(shown, theirs) || strings.Contains(shown, "callers-secret") {
		i := max(strings.Index(shown, theirs), strings.Index(shown, "callers-secret"))
		t.Errorf("a key is shown: ...%s", shown[max(0, i-200):min(len(shown), i+60)])
	}
	if !strings.Contains(log.String(), "does not take our key") {
		t.Errorf("the operator is not told:\n%s", log.String())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestUsageIsAskedForAndHidden(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	h := provide(t, p, "openai", "")
	for _, c := range []struct {
		options string
		usage   bool
	}{{``, false}, {`"stream_options":{"include_usage":false},`, false}, {`"stream_options":{"include_usage":true},`, true}} {
		res, text := post(t, h.url+"/v1/chat/completions", `{`+c.options+chatS[1:])
		if res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" || !strings.HasSuffix(text, "data: [DONE]\n\n") {
			t.Fatalf("%v %s", res.Header, text)
		}
		for frame := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
			var chunk struct {
				Choices []any
				Usage   json.RawMessage
			}
			data := strings.TrimPrefix(frame, "data: ")
			if data == "[DONE]" {
				continue
			}
			if err := json.Unmarshal([]byte(data), &chunk); err != nil {
				t.Fatalf("%q: %v", frame, err)
			}
			if !c.usage && (len(chunk.Choices) == 0 || chunk.Usage != nil) {
				t.Errorf("%s: a caller that goes by choices[0] meets %s", c.options, data)
			}
		}
		if strings.Contains(text, `"prompt_tokens"`) != c.usage {
			t.Errorf("%s: %s", c.options, text)
		}
	}
	for _, call := range p.Calls() {
		if !bytes.Contains(call.Body, []byte(`"include_usage":true`)) {
			t.Errorf("not asked for: %s", call.Body)
		}
	}
}

func TestAServiceThatRefusesToBeAskedIsAskedOnce(t *testing.T) {
	p := provider.Start(t, provider.Config{Strict: true})
	h := provide(t, p, "openai", "")
	for i, want := range []int{2, 3, 4} {
		res, text := post(t, h.url+"/v1/chat/completions", chatS)
		if res.StatusCode != 200 || !strings.HasSuffix(text, "data: [DONE]\n\n") || len(p.Calls()) != want {
			t.Errorf("call %d: %d, %d calls at the provider, want %d: %s", i+1, res.StatusCode, len(p.Calls()), want, text)
		}
	}
}

// Errors within a stream, and streams that break off, are failures and reach the caller
// as errors that its client reads.
func TestAStreamThatFails(t *testing.T) {
	for _, c := range []struct {
		name, kind, path, body string
		step                   provider.Step
		want                   string
	}{
		{"an error in a chat", "openai", "/v1/chat/completions", chatS, provider.Step{ErrorAfter: 2}, `"code":"server_is_overloaded"`},
		{"a chat that breaks off", "openai", "/v1/chat/completions", chatS, provider.Step{CutAfter: 2}, `"code":"stream_broken"`},
		{"an error in messages", "anthropic", "/v1/messages", `{"stream":true,` + claude[1:], provider.Step{ErrorAfter: 2}, "event: error\ndata: "},
		{"messages that break off", "anthropic", "/v1/messages", `{"stream":true,` + claude[1:], provider.Step{CutAfter: 2}, "event: error\ndata: "},
		{"a response that breaks off", "openai", "/v1/responses", `{"model":"gpt-4o","stream":true,"input":"a"}`, provider.Step{CutAfter: 2}, "event: error\ndata: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := provider.Start(t, provider.Config{})
			p.Next(c.step)
			h := provide(t, p, c.kind, "")
			_, text := post(t, h.url+c.path, c.body)
			i := strings.LastIndex(text, c.want)
			if i < 0 || !strings.Contains(text[:i], "wörd1") || !strings.HasSuffix(text, "\n\n") {
				t.Errorf("%q", text)
			}
			h.stop()
			if got := h.state("all").Tally; got.Answered[reason.Failed] != 1 {
				t.Errorf("%+v, want 1 failed", got)
			}
		})
	}
}

// A client may close as soon as it has what it wanted.
func TestAStreamThatHasSaidItAllIsServedWhateverItsCallerDoesThen(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	hold := make(chan struct{})
	defer close(hold)
	h := provide(t, p, "openai", "")
	for range 20 {
		res, err := h.client.Post(h.url+"/v1/chat/completions", "application/json", strings.NewReader(chatS))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for b := make([]byte, 512); !strings.Contains(text, "[DONE]"); {
			n, err := res.Body.Read(b)
			if text += string(b[:n]); err != nil && !strings.Contains(text, "[DONE]") {
				t.Fatalf("%v after %q", err, text)
			}
		}
		res.Body.Close()
	}
	h.stop()
	if got := h.state("all").Tally; got.Answered[reason.Served] != 20 {
		t.Errorf("%+v, want 20 served", got)
	}
}

// The first words reach the caller while the model still speaks.
func TestNothingWaitsForTheEndOfAStream(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	hold := make(chan struct{})
	p.Next(provider.Step{Hold: hold, HoldAfter: 2})
	h := provide(t, p, "openai", "")
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", h.url+"/v1/chat/completions", strings.NewReader(chatS))
	res, err := h.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := ""
	for b := make([]byte, 4096); !strings.Contains(text, "wörd1"); {
		n, err := res.Body.Read(b)
		if text += string(b[:n]); err != nil {
			t.Fatalf("%v after %q", err, text)
		}
	}
	close(hold)
	rest, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasSuffix(string(rest), "[DONE]\n\n") {
		t.Errorf("%v %q", err, rest)
	}
}

// An overload of theirs pauses the route: nobody asks until then, and everybody is told
// when.
func TestAnOverloadOfTheirsPausesTheRoute(t *testing.T) {
	for _, status := range []int{503, 529} {
		p := provider.Start(t, provider.Config{})
		p.Next(provider.Step{Status: status, Header: map[string]string{"Retry-After": "30"}})
		h := provide(t, p, "anthropic", "")
		if res, _ := post(t, h.url+"/v1/messages", claude); res.StatusCode != status || res.Header.Get("Retry-After") != "30" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
		for range 5 {
			res, text := post(t, h.url+"/v1/messages", claude)
			if res.StatusCode != 503 || res.Header.Get("Spillway-Reason") != "breaker_open" || !strings.Contains(text, `"error":{"type":"overloaded_error"`) {
				t.Errorf("%d %v %s", res.StatusCode, res.Header, text)
			}
			var problem struct {
				After int64 `json:"retry_after_ms"`
			}
			if err := json.Unmarshal([]byte(text), &problem); err != nil || problem.After < 25_000 || problem.After > 40_000 {
				t.Errorf("%v, told to come back after %d ms", err, problem.After)
			}
		}
		if n := len(p.Calls()); n != 1 {
			t.Errorf("the provider was asked %d times", n)
		}
	}
}

// What they say is left lowers what is sent.
func TestWhatIsLeftOfTheirLimitsIsHeeded(t *testing.T) {
	p := provider.Start(t, provider.Config{Header: map[string]string{
		"X-Ratelimit-Limit-Tokens": "10000", "X-Ratelimit-Remaining-Tokens": "100", "X-Ratelimit-Reset-Tokens": "2m0s",
	}})
	h := provide(t, p, "openai", "")
	if res, text := post(t, h.url+"/v1/chat/completions", chat); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	res, text := post(t, h.url+"/v1/chat/completions", chat) // is held for 4,096 of output
	if res.StatusCode != 429 || res.Header.Get("Spillway-Reason") != "quota_tokens" || !strings.Contains(text, `"code":"rate_limit_exceeded"`) || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, text)
	}
	if res, text := post(t, h.url+"/v1/chat/completions", `{"max_tokens":10,`+chat[1:]); res.StatusCode != 200 {
		t.Errorf("one that fits: %d %s", res.StatusCode, text)
	}
	if n := len(p.Calls()); n != 2 {
		t.Errorf("the provider was asked %d times, want 2", n)
	}
}

func TestRequestsThatNobodyCanPrice(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	h := provide(t, p, "openai", "")
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"no JSON":      {`{"model":`, nil, 400},
		"no model":     {`{"messages":[]}`, nil, 400},
		"twice":        {`{"model":"a","model":"b"}`, nil, 400},
		"compressed":   {chat, []string{"Content-Encoding", "gzip"}, 400},
		"a switch":     {chat, []string{"Connection", "Upgrade", "Upgrade", "websocket"}, 400},
		"empty object": {`{}`, nil, 400},
	} {
		res, text := post(t, h.url+"/v1/chat/completions", c.body, c.header...)
		var said struct {
			Reason string
			Error  struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil || res.StatusCode != c.status || said.Reason != "bad_request" || said.Error.Type != "invalid_request_error" || said.Error.Message == "" {
			t.Errorf("%s: %d %v %s", name, res.StatusCode, err, text)
		}
		if res, text := post(t, h.url+"/v1/chat/completions", chat); res.StatusCode != 200 {
			t.Errorf("after %s: %d %s", name, res.StatusCode, text)
		}
	}
	if n := len(p.Calls()); n != 6 {
		t.Errorf("the provider was asked %d times, want 6", n)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	text := fmt.Sprintf(`version: 1
upstreams: { app: { url: %q, provider: { kind: openai, body: 64KiB, bodies: 64KiB } } }
classes:
  all: { match: { path: "/*" }, upstream: app, slots: 8 }
`, p.URL)
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg)
	long := strings.Repeat("word ", 20<<10)
	if res, text := post(t, h.url+"/v1/chat/completions", `{"user":"`+long+`",`+chat[1:]); res.StatusCode != 413 {
		t.Errorf("one too large: %d %s", res.StatusCode, text)
	}
	hold := make(chan struct{})
	p.Next(provider.Step{Hold: hold})
	first := make(chan int, 1)
	go func() {
		res, err := h.client.Post(h.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"user":"`+long[:50<<10]+`",`+chat[1:]))
		if err != nil {
			first <- 0
			return
		}
		res.Body.Close()
		first <- res.StatusCode
	}()
	until(t, "the first is at the provider", func() bool { return len(p.Calls()) == 1 })
	if res, text := post(t, h.url+"/v1/chat/completions", `{"user":"`+long[:50<<10]+`",`+chat[1:]); res.StatusCode != 503 || res.Header.Get("Spillway-Reason") != "queue_bytes" {
		t.Errorf("beyond all of it: %d %s", res.StatusCode, text)
	}
	close(hold)
	if got := <-first; got != 200 {
		t.Errorf("the first: %d", got)
	}
	if res, text := post(t, h.url+"/v1/chat/completions", `{"user":"`+long[:50<<10]+`",`+chat[1:]); res.StatusCode != 200 {
		t.Errorf("when there is room again: %d %s", res.StatusCode, text)
	}
}

// kept runs a gateway with a ledger in front of a provider.
func kept(t testing.TB, p *provider.Server, quotas, class string) *harness {
	t.Helper()
	text := fmt.Sprintf(`version: 1
upstreams: { app: { url: %q, provider: { kind: openai, output: 1000, models: { "gpt-*": { input_price: 1, output_price: 10 } } } } }
quotas: { theirs: { %s } }
ledger: { url: %q }
classes:
  all: { match: { path: "/*" }, upstream: app, slots: 8, quota: theirs%s }
`, p.URL, quotas, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), class)
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return startConfig(t, cfg)
}

// A call is held for what it may use and charged what it used: with refunds on, what is
// left of a budget is what was not used, to the token.
func TestCallsAreChargedWhatTheirAnswersSay(t *testing.T) {
	for _, call := range []string{"", ", call: { retries: 1 }"} {
		p := provider.Start(t, provider.Config{})
		h := kept(t, p, "tokens: { burst: 1100, per_day: 1 }, refund: on", call)
		for i := range 6 { // each is held for some 1,010 tokens and uses 8
			until(t, fmt.Sprintf("%q: call %d finds what the one before has not used", call, i+1), func() bool {
				res, _ := post(t, h.url+"/v1/chat/completions", chatS)
				return res.StatusCode == 200
			})
		}
		if n := p.Spent(); n.Calls != 6 || n.Input+n.Output != 6*8 {
			t.Errorf("%+v", n)
		}
		if res, text := post(t, h.url+"/v1/chat/completions", `{"n":2,`+chat[1:]); res.StatusCode != 400 && res.StatusCode != 413 || res.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%q: one that is larger than the budget itself: %d %v %s", call, res.StatusCode, res.Header, text)
		}
	}
}

// A provider that never says what it used is charged by what its answers are.
func TestAnswersThatSayNothingAreCounted(t *testing.T) {
	p := provider.Start(t, provider.Config{Mute: true})
	h := kept(t, p, "tokens: { burst: 1100, per_day: 1 }, refund: on", "")
	served := 0
	for range 12 {
		if res, _ := post(t, h.url+"/v1/chat/completions", chatS); res.StatusCode == 200 {
			served++
		}
	}
	if served == 0 || served == 12 {
		t.Errorf("%d of 12 served: the budget must go down with each, and by no more than it is", served)
	}
}

// Calls beyond a limit of tokens are not sent, however many come at once.
func TestManyAtOnceDoNotPassALimitOfTokens(t *testing.T) {
	p := provider.Start(t, provider.Config{})
	h := kept(t, p, "tokens: { burst: 2050, per_day: 1 }", ", deadline: 2s")
	var wait sync.WaitGroup
	codes := make(chan int, 20)
	for range 20 {
		wait.Go(func() {
			res, err := h.client.Post(h.url+"/v1/chat/completions", "application/json", strings.NewReader(chat))
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			codes <- res.StatusCode
		})
	}
	wait.Wait()
	close(codes)
	n := map[int]int{}
	for c := range codes {
		n[c]++
	}
	if n[200] != 2 || n[429] != 18 || len(p.Calls()) != 2 {
		t.Errorf("%v, %d calls at the provider; want 2 served, 18 told 429", n, len(p.Calls()))
	}
}
