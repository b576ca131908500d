package openai_test

import (
	"net/http"
	"testing"
)

// What watching adds to a chunk of a stream: for a caller that asked for usage, and for
// one that did not, from whose chunks an empty member is cut.
func BenchmarkChunk(b *testing.B) {
	const chunk = `data: {"id":"chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0","object":"chat.completion.chunk","created":1770933892,"model":"gpt-4.1-nano-2025-04-14","service_tier":"default","system_fingerprint":"fp_de604bd877","choices":[{"index":0,"delta":{"content":" holiday"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"h9RiQLL"}` + "\n\n"
	for name, options := range map[string]string{"asked": `"stream_options":{"include_usage":true},`, "hidden": ``} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			a := read(b, "/v1/chat/completions", `{`+options+`"model":"gpt-4o","stream":true,"messages":[]}`).Answer(http.Header{"Content-Type": {"text/event-stream"}})
			for b.Loop() {
				a.Pass([]byte(chunk))
			}
		})
	}
}
