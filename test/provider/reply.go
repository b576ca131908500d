package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// reply is an answer on its way.
type reply struct {
	server    *Server
	w         http.ResponseWriter
	r         *http.Request
	step      Step
	anthropic bool
	input     int
	said      int
	model     string
}

// ask is what is read of a request.
type ask struct {
	Model   string
	Stream  bool
	Options *struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (s *Server) answer(a *reply, body []byte) {
	var q ask
	var all map[string]any
	if json.Unmarshal(body, &q) != nil || json.Unmarshal(body, &all) != nil {
		fail(a.w, a.anthropic, http.StatusBadRequest, "invalid_request_error", "invalid_json", "the body is no JSON")
		return
	}
	if s.cfg.Strict && q.Options != nil {
		fail(a.w, false, http.StatusBadRequest, "invalid_request_error", "unknown_parameter", "Unrecognized request argument supplied: stream_options")
		return
	}
	a.input, a.model = words(all), q.Model
	defer func() { s.spend(a.input, a.said) }()
	asked := q.Options != nil && q.Options.Usage && !s.cfg.Mute
	switch path := a.r.URL.Path; {
	case a.anthropic && q.Stream:
		a.messagesStream()
	case a.anthropic:
		a.document(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "stop_reason": "end_turn", "stop_sequence": nil,
			"content": []any{map[string]any{"type": "text", "text": a.text()}}, "usage": map[string]any{"input_tokens": a.input, "output_tokens": s.cfg.Words}})
	case strings.HasSuffix(path, "/chat/completions") && q.Stream:
		a.chatStream(asked)
	case strings.HasSuffix(path, "/chat/completions"):
		a.document(map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": q.Model,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "logprobs": nil, "message": map[string]any{"role": "assistant", "content": a.text(), "refusal": nil}}},
			"usage":   a.usage()})
	case strings.HasSuffix(path, "/completions"):
		a.document(map[string]any{"id": "cmpl-1", "object": "text_completion", "created": 1, "model": q.Model,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "logprobs": nil, "text": a.text()}}, "usage": a.usage()})
	case strings.HasSuffix(path, "/responses") && q.Stream:
		a.responsesStream()
	case strings.HasSuffix(path, "/responses"):
		a.document(a.response("completed", a.text()))
	case strings.HasSuffix(path, "/embeddings"):
		a.document(map[string]any{"object": "list", "model": q.Model, "data": []any{map[string]any{"object": "embedding", "index": 0, "embedding": []float64{0.25, 0.5}}},
			"usage": map[string]any{"prompt_tokens": a.input, "total_tokens": a.input}})
	default:
		a.document(map[string]any{"ok": true})
	}
}

func (a *reply) usage() map[string]any {
	return map[string]any{"prompt_tokens": a.input, "completion_tokens": a.server.cfg.Words, "total_tokens": a.input + a.server.cfg.Words}
}

// text is all that the model says.
func (a *reply) text() string {
	var b strings.Builder
	for i := range a.server.cfg.Words {
		b.WriteString(word(i))
	}
	a.said = a.server.cfg.Words
	return b.String()
}

func (a *reply) document(v any) {
	a.w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(a.w).Encode(v)
}

// begin begins a stream.
func (a *reply) begin() {
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	a.w.WriteHeader(http.StatusOK)
	a.flush()
}

func (a *reply) flush() { _ = http.NewResponseController(a.w).Flush() }

// frame sends one; event "" for none.
func (a *reply) frame(event string, data any) {
	b, _ := json.Marshal(data)
	if text, ok := data.(string); ok {
		b = []byte(text)
	}
	if event != "" {
		fmt.Fprintf(a.w, "event: %s\n", event)
	}
	fmt.Fprintf(a.w, "data: %s\n\n", b)
	a.flush()
}

// speak says words, each by say, as the script has it. It reports whether the stream
// goes on to its end.
func (a *reply) speak(say func(i int)) bool {
	for i := range a.server.cfg.Words {
		if a.step.Hold != nil && a.step.HoldAfter > 0 && i == a.step.HoldAfter {
			select {
			case <-a.step.Hold:
			case <-a.r.Context().Done():
			}
		}
		if a.server.cfg.Pace > 0 {
			select {
			case <-time.After(a.server.cfg.Pace):
			case <-a.r.Context().Done():
			}
		}
		if a.r.Context().Err() != nil {
			a.server.mu.Lock()
			a.server.broke++
			a.server.mu.Unlock()
			return false
		}
		say(i)
		a.said = i + 1
		switch a.said {
		case a.step.ErrorAfter:
			a.fail()
			return false
		case a.step.EndAfter:
			return false
		case a.step.CutAfter:
			if conn, _, err := http.NewResponseController(a.w).Hijack(); err == nil {
				conn.Close()
			}
			panic(http.ErrAbortHandler)
		}
	}
	return true
}

// fail sends an error within a stream.
func (a *reply) fail() {
	switch {
	case a.anthropic:
		a.frame("error", map[string]any{"type": "error", "error": map[string]any{"type": "overloaded_error", "message": "Overloaded"}})
	case strings.HasSuffix(a.r.URL.Path, "/responses"):
		a.frame("error", map[string]any{"type": "error", "code": "server_error", "message": "Overloaded", "param": nil, "sequence_number": 9})
	default:
		a.frame("", map[string]any{"error": map[string]any{"type": "server_error", "code": "server_is_overloaded", "message": "Overloaded", "param": nil}})
	}
}

func (a *reply) chatStream(asked bool) {
	a.begin()
	chunk := func(choices []any, usage any) {
		doc := map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": a.model, "choices": choices}
		if asked {
			doc["usage"] = usage
		}
		a.frame("", doc)
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
	}
	if !a.speak(func(i int) { chunk(choice(map[string]any{"role": "assistant", "content": word(i)}, nil), nil) }) {
		return
	}
	chunk(choice(map[string]any{}, "stop"), nil)
	if asked {
		chunk([]any{}, a.usage())
	}
	a.frame("", "[DONE]")
}

func (a *reply) messagesStream() {
	a.begin()
	a.frame("message_start", map[string]any{"type": "message_start", "message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": a.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": a.input, "output_tokens": 1}}})
	a.frame("content_block_start", map[string]any{"type": "content_block_start", "index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
	a.frame("ping", map[string]any{"type": "ping"})
	if !a.speak(func(i int) {
		a.frame("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": word(i)}})
	}) {
		return
	}
	a.frame("content_block_stop", map[string]any{"type": "content_block_stop", "index": 0})
	a.frame("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": map[string]any{"output_tokens": a.server.cfg.Words}})
	a.frame("message_stop", map[string]any{"type": "message_stop"})
}

// response is a response in one of its states.
func (a *reply) response(status, text string) map[string]any {
	doc := map[string]any{"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": a.model, "output": []any{}, "error": nil,
		"incomplete_details": nil, "instructions": nil, "metadata": map[string]any{}, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "temperature": 1, "top_p": 1, "usage": nil}
	if text != "" {
		doc["output"] = []any{map[string]any{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}}
		doc["usage"] = map[string]any{"input_tokens": a.input, "output_tokens": a.server.cfg.Words, "total_tokens": a.input + a.server.cfg.Words,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}}
	}
	return doc
}

func (a *reply) responsesStream() {
	a.begin()
	event := func(n int, kind string, more map[string]any) {
		doc := map[string]any{"type": kind, "sequence_number": n}
		for k, v := range more { // into a map
			doc[k] = v
		}
		a.frame(kind, doc)
	}
	event(0, "response.created", map[string]any{"response": a.response("in_progress", "")})
	if !a.speak(func(i int) {
		event(i+1, "response.output_text.delta", map[string]any{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word(i), "logprobs": []any{}})
	}) {
		return
	}
	event(a.server.cfg.Words+1, "response.completed", map[string]any{"response": a.response("completed", a.text())})
}
