// Package provider is a provider of models that runs in a test: a real HTTP server
// that behaves as the published APIs of OpenAI and Anthropic do, streams, errors inside
// streams and limit headers included, and keeps a record of its own of what it was
// asked, how many calls it had at once and what they used.
//
//	p := provider.Start(t, provider.Config{Key: "sk-theirs"})
//	p.Next(provider.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}})
//	... calls to p.URL ...
//	p.Calls(), p.Peak(), p.Spent()
//
// Its models say Config.Words words, one a chunk of a stream. A token is a word: what
// it reports is its own count and nobody else's.
package provider
