package scan

import "bytes"

var comma = []byte(",")

// Cut returns a document without the members of its object that bear a key, in bytes
// of its own; the document itself where there is none. Those whose key is written with
// escapes stay.
func Cut(doc []byte, key string) []byte {
	out, from := []byte(nil), 0
	for k, v := range Object(doc) {
		if string(k) != key {
			continue
		}
		begin, end := cap(doc)-cap(k)-1, cap(doc)-cap(v)+len(v)
		if begin < from || begin >= len(doc) || doc[begin] != '"' {
			continue
		}
		if next := space(doc, end); next < len(doc) && doc[next] == ',' {
			out, from = append(out, doc[from:begin]...), next+1
			continue
		}
		// It is the last one: the comma before it goes too.
		out = bytes.TrimRight(append(out, doc[from:begin]...), " \t\r\n")
		out = bytes.TrimSuffix(out, comma)
		from = end
	}
	if from == 0 {
		return doc
	}
	return append(out, doc[from:]...)
}
