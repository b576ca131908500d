package trust

import "net/http"

// The headers in which callers say which try a request is.
const (
	headerEnvoyAttempt = "X-Envoy-Attempt-Count"      // 1 is the first
	headerGRPCAttempts = "Grpc-Previous-Rpc-Attempts" // absent at the first
	headerSDKRetries   = "X-Stainless-Retry-Count"    // 0 is the first
)

// Retry reports whether the request says that it is not its caller's first try,
// and how many of the headers make no sense. These count for nothing, as does a
// header that is missing: what everybody is taken for is a first try, and all
// that a header can do is to give that up.
func Retry(h http.Header) (retry bool, malformed int) {
	for _, k := range [...]struct {
		name  string
		first int
	}{{headerEnvoyAttempt, 1}, {headerGRPCAttempts, 0}, {headerSDKRetries, 0}} {
		for _, v := range h[k.name] {
			n, ok := attempts(v)
			if !ok {
				malformed++
			}
			retry = retry || n > k.first
		}
	}
	return retry, malformed
}

// attempts reads a number of tries: one to nine digits.
func attempts(s string) (int, bool) {
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
