package rungs

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
)

// Ask is a request, and what is known of who makes it.
type Ask struct {
	*http.Request
	// Partition separates callers whose answers are never shared: the tenant, and
	// who the caller proved to be.
	Partition string
	// Secure says that the caller speaks TLS: answers name their own scheme.
	Secure bool
}

// Unkeyed lists the request headers that do not decide what the answer is, and so
// are in no key: those about the connection, about what is asked of caches, about
// tracing, deadlines and attempts, those that the gateway writes itself, and those
// by which programs name themselves. Where a service goes by one of the last it says
// so in Vary, and it counts then.
func Unkeyed(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Transfer-Encoding", "Via", "Date",
		"Cache-Control", "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
		"User-Agent", "Referer", "Dnt", "Priority", "Upgrade-Insecure-Requests",
		"Traceparent", "Tracestate", "X-Request-Id", "X-Correlation-Id", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "B3",
		"Grpc-Timeout", "Idempotency-Key", "Content-Length",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
		return true
	}
	for _, prefix := range [...]string{"Sec-", "X-B3-", "X-Envoy-", "X-Stainless-", "Spillway-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// unkeyed is Unkeyed with what the operator added.
func (c *CacheConfig) unkeyed(name string) bool {
	return Unkeyed(name) || slices.Contains(c.Ignore, name)
}

// key is which answers a request may be given: a hash, so that its length is no
// caller's to choose and nobody can make two requests share one.
func (c *CacheConfig) key(a *Ask) string {
	var room [1024]byte
	b := room[:0]
	b = appendText(b, a.Partition)
	b = appendText(b, strings.ToLower(a.Host))
	b = appendText(b, a.URL.EscapedPath())
	b = appendText(b, a.URL.RawQuery)
	if a.Secure {
		b = append(b, 's')
	}
	var few [32]string
	names := few[:0]
	for name := range a.Header { // order does not matter: they are sorted
		if !c.unkeyed(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return digest(appendHeaders(b, names, a.Header))
}

// variant is the key of one of several answers to the same request, told apart by
// headers that Vary names.
func variant(key string, names []string, h http.Header) string {
	return digest(appendHeaders(append([]byte("variant "), key...), names, h))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return string(sum[:24])
}

func appendHeaders(b []byte, names []string, h http.Header) []byte {
	for _, name := range names {
		b = appendText(b, name)
		b = binary.AppendUvarint(b, uint64(len(h[name])))
		for _, v := range h[name] {
			b = appendText(b, v)
		}
	}
	return b
}

// appendText appends a text with its length: no two lists of texts look the same.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// varies returns the headers that tell answers apart beside those in every key, in
// order and each once; false if there are too many or no request is like another.
func (c *CacheConfig) varies(h http.Header) (names []string, ok bool) {
	for _, line := range h["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(blank(name))
			switch {
			case name == "*":
				return nil, false
			case name == "" || !c.unkeyed(name) || slices.Contains(names, name):
				continue
			case len(names) == varyMost:
				return nil, false
			}
			names = append(names, strings.Clone(name))
		}
	}
	slices.Sort(names)
	return names, true
}

// place is where what was voided for a host and path is noted: one of voidPlaces.
// Two that share one are voided together, which loses an answer and gives nobody a
// wrong one. The query is left out: a change of a thing is a change of every view of
// it.
func place(a *Ask) string {
	b := appendText(nil, strings.ToLower(a.Host))
	sum := sha256.Sum256(appendText(b, a.URL.EscapedPath()))
	n := binary.BigEndian.Uint16(sum[:]) % voidPlaces
	return string(binary.BigEndian.AppendUint16(nil, n))
}

const voidPlaces = 1 << 14
