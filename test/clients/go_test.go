package clients

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	aoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/spillway-dev/spillway/test/provider"
)

func said(words int) (s string) {
	for i := range words {
		s += "wörd" + string(rune('0'+i)) + " "
	}
	return s
}

func TestOpenAIGo(t *testing.T) {
	p := provider.Start(t, provider.Config{Key: theirs})
	g := start(t, p, "openai", "")
	client := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey(g.key))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ask := openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say five words")}}

	answer, err := client.Chat.Completions.New(ctx, ask)
	if err != nil || answer.Choices[0].Message.Content != said(5) || answer.Usage.CompletionTokens != 5 {
		t.Fatalf("chat: %v %+v", err, answer)
	}

	stream := client.Chat.Completions.NewStreaming(ctx, ask)
	text := ""
	for stream.Next() {
		text += stream.Current().Choices[0].Delta.Content // as everybody reads it
	}
	if err := stream.Err(); err != nil || text != said(5) {
		t.Errorf("stream: %v %q", err, text)
	}

	with := ask
	with.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream = client.Chat.Completions.NewStreaming(ctx, with)
	used := int64(0)
	for stream.Next() {
		used = max(used, stream.Current().Usage.CompletionTokens)
	}
	if stream.Err() != nil || used != 5 {
		t.Errorf("stream that asks for usage: %v, %d tokens", stream.Err(), used)
	}

	response, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: "gpt-4o", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Say five words")}})
	if err != nil || response.OutputText() != said(5) {
		t.Errorf("response: %v", err)
	}
	spoken := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{Model: "gpt-4o", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Say five words")}})
	text = ""
	for spoken.Next() {
		if e := spoken.Current(); e.Type == "response.output_text.delta" {
			text += e.Delta
		}
	}
	if spoken.Err() != nil || text != said(5) {
		t.Errorf("response as a stream: %v %q", spoken.Err(), text)
	}

	vectors, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: "text-embedding-3-small", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a fox")}})
	if err != nil || len(vectors.Data) != 1 {
		t.Errorf("embeddings: %v", err)
	}
	for _, c := range p.Calls() {
		if c.Header.Get("Authorization") != "Bearer "+theirs {
			t.Errorf("%s came with %q", c.Path, c.Header.Get("Authorization"))
		}
	}

	other := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey("sk-somebody-elses"), option.WithMaxRetries(0))
	_, err = other.Chat.Completions.New(ctx, ask)
	if e := new(openai.Error); !errors.As(err, &e) || e.StatusCode != 401 {
		t.Errorf("a key that is not ours: %v", err)
	}
}

func TestOpenAIGoMeetsErrorsInStreams(t *testing.T) {
	p := provider.Start(t, provider.Config{Key: theirs})
	g := start(t, p, "openai", "")
	client := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey(g.key))
	for _, step := range []provider.Step{{ErrorAfter: 2}, {CutAfter: 2}} {
		p.Next(step)
		stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a")}})
		text := ""
		for stream.Next() {
			text += stream.Current().Choices[0].Delta.Content
		}
		if stream.Err() == nil || text != said(2) {
			t.Errorf("%+v: %q, and %v", step, text, stream.Err())
		}
	}
	if n := len(p.Calls()); n != 2 {
		t.Errorf("%d calls: a stream that has begun is not tried again", n)
	}
}

func TestAnthropicGo(t *testing.T) {
	p := provider.Start(t, provider.Config{Key: theirs})
	g := start(t, p, "anthropic", "")
	client := anthropic.NewClient(aoption.WithBaseURL(g.url), aoption.WithAPIKey(g.key))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ask := anthropic.MessageNewParams{Model: "claude-x", MaxTokens: 50, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Say five words"))}}

	answer, err := client.Messages.New(ctx, ask)
	if err != nil || answer.Content[0].Text != said(5) || answer.Usage.OutputTokens != 5 {
		t.Fatalf("message: %v %+v", err, answer)
	}
	stream := client.Messages.NewStreaming(ctx, ask)
	whole := anthropic.Message{}
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if stream.Err() != nil || whole.Content[0].Text != said(5) || whole.Usage.OutputTokens != 5 {
		t.Errorf("stream: %v %+v", stream.Err(), whole)
	}
	for _, step := range []provider.Step{{ErrorAfter: 2}, {CutAfter: 2}} {
		p.Next(step)
		stream := client.Messages.NewStreaming(ctx, ask)
		for stream.Next() {
		}
		if stream.Err() == nil {
			t.Errorf("%+v: no error", step)
		}
	}
	for _, c := range p.Calls() {
		if c.Header.Get("X-Api-Key") != theirs {
			t.Errorf("%s came with %q", c.Path, c.Header.Get("X-Api-Key"))
		}
	}
}

// What the clients do when they are refused is what the gateway's answers are made for:
// they come again twice, when they are told to if that is soon, and not at all where it
// says so.
func TestGoClientsWhenRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		step   provider.Step
		calls  int           // that the gateway has let through to the provider
		spaced time.Duration // at least, between the first two
		status int
	}{
		{"a limit that frees soon", provider.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}}, 2, time.Second, 200},
		{"an overload that ends soon", provider.Step{Status: 529, Header: map[string]string{"Retry-After": "1"}}, 2, time.Second, 200},
		{"money that is spent", provider.Step{Status: 429, Body: `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"x"}}`}, 1, 0, 429},
		{"a limit that frees in an hour", provider.Step{Status: 429, Header: map[string]string{"Retry-After": "3600", "X-Should-Retry": "false"}}, 1, 0, 429},
		{"what is wrong stays wrong", provider.Step{Status: 400}, 1, 0, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := provider.Start(t, provider.Config{Key: theirs})
			p.Next(c.step)
			g := start(t, p, "openai", "")
			client := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey(g.key))
			_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a")}})
			status := http.StatusOK
			if e := new(openai.Error); errors.As(err, &e) {
				status = e.StatusCode
			} else if err != nil {
				t.Fatal(err)
			}
			calls := p.Calls()
			if status != c.status || len(calls) != c.calls {
				t.Fatalf("status %d after %d calls at the provider, want %d after %d: %v", status, len(calls), c.status, c.calls, err)
			}
			if len(calls) > 1 && calls[1].At.Sub(calls[0].At) < c.spaced {
				t.Errorf("the second came after %v", calls[1].At.Sub(calls[0].At))
			}
		})
	}
	// A pause of the gateway's own that is longer than clients keep: told not to come.
	p := provider.Start(t, provider.Config{Key: theirs})
	p.Next(provider.Step{Status: 503, Header: map[string]string{"Retry-After": "600", "X-Should-Retry": "false"}})
	g := start(t, p, "openai", "")
	client := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey(g.key))
	for range 2 {
		began := time.Now()
		_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a")}})
		if err == nil || time.Since(began) > 5*time.Second || !strings.Contains(err.Error(), "503") {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	}
	if n := len(p.Calls()); n != 1 {
		t.Errorf("the provider was asked %d times in its pause", n)
	}
}
