package call

// The headers in which callers say which try a request is, in the form of http.Header, and
// what each says of the first.
var retriedHeaders = [...]struct {
	name  string
	first int
}{
	{"X-Envoy-Attempt-Count", 1},
	{"Grpc-Previous-Rpc-Attempts", 0}, // absent at the first
	{"X-Stainless-Retry-Count", 0},
}

// ReadRetried reports whether the headers of a request say that it is not its caller's
// first try, and how many of their values make no sense. values returns those of a header,
// by its name in the form of http.Header. What makes no sense counts for nothing, as does a
// header that is missing: what everybody is taken for is a first try, and all that a header
// can do is to give that up. It asks for three headers, which takes some 50 ns.
func ReadRetried(values func(name string) []string) (retried bool, malformed int) {
	for _, k := range retriedHeaders {
		for _, v := range values(k.name) {
			n, ok := tries(v)
			if !ok {
				malformed++
			}
			retried = retried || n > k.first
		}
	}
	return retried, malformed
}

// tries reads a number of tries: one to nine digits.
func tries(s string) (int, bool) {
	if len(s) == 0 || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}
