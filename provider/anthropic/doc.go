// Package anthropic is the language of Anthropic's API: messages and their streams.
//
// # How text is counted
//
// Anthropic publishes no vocabulary. Texts are counted with OpenAI's newest and a
// margin of [Margin] per cent, which docs/providers.md states with what was measured
// of it. A picture is its pixels divided by 750, as Anthropic's guide says, and at most
// [ImageMost]; tools cost [ToolsBase] tokens besides, for the text with which the
// provider explains them to the model.
//
// # What is input
//
// What was read from a cache and what was written to one stand beside input_tokens and
// are input too. Of the limit of input tokens a minute a cache's reads take nothing;
// here they are charged, which errs to the safe side.
//
// # What is not known
//
// As in provider/openai: any other path is charged by the length of its body, and
// /v1/messages/count_tokens, which runs nothing, costs a request. A batch's requests
// run elsewhere and later; its body is charged as input, and the ceiling once.
//
// Concurrency, bounds and errors are those of package provider.
package anthropic
