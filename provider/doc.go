// Package provider is what a call to a model's provider costs: before it is made, as
// far as its request tells, and after, as far as its answer does.
//
//	API       the language that a service speaks: provider/openai, provider/anthropic,
//	          provider/generic
//	Call      what a request asks for: a model, input as it was counted, a ceiling for
//	          the output, the body to send
//	Answer    what watches an answer as it passes
//	Settled   what came of it: what was reported, what was counted, or that nobody knows
//	Told      what a provider says is left of its limits
//	Trouble   what an answer that is no success says, and of what
//
// # Before
//
// A call takes its input as counted (provider/tokens; pictures, files and sounds by
// rule, and what nobody knows never for nothing) and at most so much output as the
// least of three says: what the caller allows, what the model gives, what the
// configuration takes where nothing is said. Never all that is left: who names no
// ceiling, or a monstrous one, must not freeze everybody else.
//
// # After
//
// Usage that the provider reports is what a call has used; each figure is the largest
// that was said of it, because some services repeat it in every frame and none takes
// anything back. Zero is a figure and nothing said is none. Where an answer came whole
// and said nothing, its text is counted, and that is flagged. Where it broke off, or
// cannot be read, what was used is not known, and the Settled says so: a hold is not
// given back on a guess.
//
// The providers of OpenAI's language report usage in a stream if they are asked. They
// always are; a caller that did not ask sees nothing of it.
//
// # What is bounded
//
// A request's body is in memory, as long as its reader allows. Of an answer no more is
// kept than a frame, a figure and a piece of text, whatever its length; see the
// constants. Names from outside (models, codes) are cut to [NameMost] bytes of
// printable ASCII.
//
// An API is safe for concurrent use. A Call and its Answer are for one goroutine.
package provider
