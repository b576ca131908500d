// Package openai is the language of OpenAI's API, which many services speak: chat
// completions, completions, responses and embeddings, and streams of the first three.
//
// # What is not known
//
// Any other path is charged all the same, by the length of its body and with a ceiling
// of output: a path that costs nothing would be the one that everybody takes. What only
// reads (GET, HEAD, DELETE, OPTIONS) costs a request and no tokens.
//
// A request that leans on what the provider keeps (previous_response_id, a
// conversation, a prompt by name) is charged [Elsewhere] tokens besides, for what
// nobody here has seen.
//
// # Usage in streams
//
// A stream of chat completions or completions says what it used only if it is asked
// to. It always is: stream_options.include_usage is put into the body that is sent. A
// caller that did not ask for it sees neither the frame that bears it nor the empty
// usage member of the others.
//
// Concurrency, bounds and errors are those of package provider.
package openai
