// Package tokens counts how many tokens a text is, in the time that a gateway has.
//
//	c := tokens.For("gpt-4o").Count()
//	c.JSON(raw)          the inside of a JSON string, as it stands
//	n := c.Total()       tokens, rounded up
//
// Texts are counted with the vocabularies that OpenAI publishes, which are part of the
// program. That takes some microseconds for a word nobody has counted before and a
// fraction of one for others: a table of bounded size remembers what words cost
// ([Encoding]). Words are cut where the vocabulary's own rules cut them, before a
// single space, so that the sum is exact.
//
// # What it takes at most
//
// Of one request [VisitMost] bytes are looked at, evenly spread over a text that is
// longer, and of these [MissMost] bytes counted that are in no table; the rest is
// taken to be like them, and a twentieth more. So a request of any length takes a few
// milliseconds, and one of usual length is exact.
//
// # Models whose vocabulary is not published
//
// They are counted with OpenAI's and a margin ([Encoding.Margin]), in per cent, which
// docs/providers.md states with what was measured of it.
//
// All but a [Counter] is safe for concurrent use.
package tokens
