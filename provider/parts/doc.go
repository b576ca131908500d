// Package parts prices what a request to a model is made of: texts are counted,
// pictures, files and sounds go by rule, and what nobody knows is never free.
//
//	text       by the vocabulary, see provider/tokens
//	pictures   by the API's own rule for their size, which is read from the first bytes
//	           of one that is sent along; of one that is not (a link, the name of a
//	           file), the most that a picture can be
//	files      3,000 tokens a page of a PDF, as far as its pages can be seen, and no less
//	           than one token in 20 bytes; of one that is not sent along, [FileElsewhere]
//	sounds     one token in 400 bytes, the densest of usual codings; not sent along:
//	           [SoundElsewhere]
//	binary     of no known kind: one token in 20 bytes, and at least 100
//	the rest   as text, names and all
//
// Base64 is never counted as text: a picture of a megabyte is some thousand tokens and
// not half a million.
//
// What is looked at is bounded by the document, and its nesting by [DepthMost].
package parts
