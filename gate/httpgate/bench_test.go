package httpgate_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// BenchmarkMiddleware is what the middleware adds to a handler, a goroutine and
// a context included.
func BenchmarkMiddleware(b *testing.B) {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "checkout", Pool: gate.Pool{Slots: 1000, Latency: time.Second}}}})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	h := httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(200) }))
	r := &http.Request{Header: http.Header{}, ProtoMajor: 1}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(discard{}, r)
	}
}

// BenchmarkAnswer is a refusal on the wire.
func BenchmarkAnswer(b *testing.B) {
	r := &http.Request{Header: http.Header{}, ProtoMajor: 1}
	w := &keeping{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		httpgate.Answer(w, r, gate.Refusal{Reason: reason.QueueFull, RetryAfter: time.Second, Class: "checkout"})
	}
}

// keeping is a writer with a header map that is used again.
type keeping struct {
	discard
	header http.Header
}

func (k *keeping) Header() http.Header { return k.header }
