// Package scan reads JSON in place: it makes nothing of a document but slices of
// it, so that a piece of a stream costs what it is long and not what it holds.
//
//	for key, value := range scan.Object(doc) { ... }   members, as they stand
//	for value := range scan.Array(doc) { ... }         elements
//	scan.Int(value), scan.Text(value)                  what a value is
//	Picker                                             members of a document that comes in pieces
//
// It does not say whether a document is valid; who must know asks json.Valid first.
// Of one that is not, what is found before the fault is yielded, and nothing panics.
// Time is linear in the document, memory constant.
package scan
