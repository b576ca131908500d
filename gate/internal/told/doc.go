// Package told is what a caller is told of a reason, whatever protocol it speaks:
// the status, a title, a sentence that says what it means and what to do, when to
// come back, and whether to come back at all. gate/httpgate and gate/grpcgate put
// it on the wire; nothing else makes up another sentence.
package told
