package openai

import (
	"bytes"

	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/scan"
)

// dialect reads the answers of one endpoint.
type dialect struct{ endpoint string }

var done = []byte("[DONE]")

// Ends implements provider.Dialect: a stream says so itself.
func (d dialect) Ends() bool { return true }

// Event implements provider.Dialect.
func (d dialect) Event(h *provider.Heard, event string, data []byte, asked bool) []byte {
	if bytes.Equal(data, done) {
		h.Last = true
		return data
	}
	if d.endpoint == "responses" {
		d.responseEvent(h, event, data)
		return data
	}
	var choices, usage, kind []byte
	for k, v := range scan.Object(data) {
		switch string(k) {
		case "choices":
			choices = v
		case "usage":
			usage = v
		case "error":
			fail(h, v)
		case "type":
			kind = v
		case "x_groq":
			readUsage(h, scan.Member(v, "usage"))
		}
	}
	if event == "error" || scan.Is(kind, "error") {
		fail(h, data)
	}
	readUsage(h, usage)
	said := sayChoices(h, choices)
	switch {
	case asked || usage == nil:
		return data
	case !said && !scan.Null(usage):
		return nil // the frame that the caller has not asked for
	}
	return scan.Cut(data, "usage")
}

// fail takes that an answer says it failed.
func fail(h *provider.Heard, problem []byte) {
	if scan.Null(problem) {
		return
	}
	code := ""
	for _, key := range []string{"type", "code"} {
		if text, ok := scan.Text(scan.Member(problem, key)); ok && text != "" && text != "error" {
			code = text
		}
	}
	h.Fail(code)
}

// sayChoices takes what the choices of a chunk, or of a whole answer, say. It reports
// whether there are any.
func sayChoices(h *provider.Heard, choices []byte) (any bool) {
	for choice := range scan.Array(choices) {
		any = true
		for k, v := range scan.Object(choice) {
			switch string(k) {
			case "text":
				sayText(h, v)
			case "delta", "message":
				sayMessage(h, v)
			}
		}
	}
	return any
}

func sayMessage(h *provider.Heard, message []byte) {
	for k, v := range scan.Object(message) {
		switch string(k) {
		case "content", "refusal", "reasoning", "reasoning_content":
			sayAll(h, v, 0)
		case "function_call":
			sayFunction(h, v)
		case "tool_calls":
			for call := range scan.Array(v) {
				sayFunction(h, scan.Member(call, "function"))
			}
		}
	}
}

func sayFunction(h *provider.Heard, function []byte) {
	sayText(h, scan.Member(function, "name"))
	sayText(h, scan.Member(function, "arguments"))
}

func sayText(h *provider.Heard, v []byte) {
	if raw, ok := scan.Raw(v); ok {
		h.Say(raw)
	}
}

// sayAll takes a text, or the texts of parts.
func sayAll(h *provider.Heard, v []byte, depth int) {
	if depth > 8 {
		return
	}
	switch scan.Of(v) {
	case '"':
		sayText(h, v)
	case '[':
		for e := range scan.Array(v) {
			sayAll(h, e, depth+1)
		}
	case '{':
		for k, m := range scan.Object(v) {
			switch string(k) {
			case "text", "content", "summary", "refusal", "arguments", "name", "input":
				sayAll(h, m, depth+1)
			}
		}
	}
}

// responseEvent takes an event of a response.
func (d dialect) responseEvent(h *provider.Heard, event string, data []byte) {
	kind, delta := event, []byte(nil)
	var response []byte
	for k, v := range scan.Object(data) {
		switch string(k) {
		case "type":
			if raw, ok := scan.Raw(v); ok && kind == "" {
				kind = string(raw)
			}
		case "delta":
			delta = v
		case "response":
			response = v
		case "error":
			fail(h, v)
		}
	}
	switch kind {
	case "error":
		fail(h, data)
	case "response.failed":
		readUsage(h, scan.Member(response, "usage"))
		h.Fail("failed")
		fail(h, scan.Member(response, "error"))
		h.Last = true
	case "response.completed", "response.incomplete", "response.cancelled":
		readUsage(h, scan.Member(response, "usage"))
		h.Last = true
	default:
		sayText(h, delta)
	}
}

// readUsage takes what is said of usage, by the names of either API. What both leave
// out of the output, and count in the total, is output too.
func readUsage(h *provider.Heard, usage []byte) {
	u, total := &h.Usage, provider.Count{}
	output := false
	for k, v := range scan.Object(usage) {
		switch string(k) {
		case "prompt_tokens", "input_tokens":
			u.Input.Raise(v)
		case "completion_tokens", "output_tokens":
			u.Output.Raise(v)
			_, ok := scan.Int(v)
			output = output || ok
		case "total_tokens":
			total.Raise(v)
		case "prompt_tokens_details", "input_tokens_details":
			u.CacheRead.Raise(scan.Member(v, "cached_tokens"))
			u.CacheWrite.Raise(scan.Member(v, "cache_write_tokens"))
		}
	}
	if output && total.Said && u.Input.Said {
		u.Output.Most(total.N - u.Input.N)
	}
}

// Keys implements provider.Dialect.
func (d dialect) Keys() []string {
	return []string{"usage", "error", "choices", "output", "status", "data"}
}

// Document implements provider.Dialect.
func (d dialect) Document(h *provider.Heard, member func(string) []byte) {
	readUsage(h, member("usage"))
	if e := member("error"); !scan.Null(e) {
		fail(h, e)
	}
	switch d.endpoint {
	case "embeddings":
		if h.Usage.Input.Said {
			h.Usage.Output.Most(0) // there is none
		}
	case "responses":
		if scan.Is(member("status"), "failed") && !h.Failed {
			h.Fail("failed")
		}
		sayAll(h, member("output"), 0)
	default:
		sayChoices(h, member("choices"))
	}
}

// Failure implements provider.Dialect.
func (d dialect) Failure(message string) []byte {
	if d.endpoint == "responses" {
		return append(append([]byte("event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"param\":null,\"sequence_number\":0,\"message\":"),
			quoted(message)...), "}\n\n"...)
	}
	return append(append([]byte("data: {\"error\":{\"type\":\"server_error\",\"code\":\"stream_broken\",\"param\":null,\"message\":"),
		quoted(message)...), "}}\n\n"...)
}
