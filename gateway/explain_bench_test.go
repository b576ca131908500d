package gateway_test

import (
	"net/http"
	"testing"
	"time"
)

// deaf is a caller that reads no answer.
type deaf struct{ h http.Header }

func (n deaf) Header() http.Header         { return n.h }
func (n deaf) Write(p []byte) (int, error) { return len(p), nil }
func (n deaf) WriteHeader(int)             {}

// BenchmarkRefusalRemembered is what it adds to a refusal that it can be asked
// for: the same request refused by a gateway that remembers and by one that does
// not, in turns. ns-more/op is the difference, ratio what one costs of the other.
func BenchmarkRefusalRemembered(b *testing.B) {
	var arms [2]*harness
	var spent [2]time.Duration
	for i, explain := range []string{"off", "{ remember: 4096 }"} {
		block := newBlocker()
		arms[i] = start(b, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }\nexplain: "+explain, block.ServeHTTP)
		first := make(chan got, 1)
		go func() { first <- arms[i].get("/") }()
		<-block.began
		defer func() { block.let <- struct{}{}; <-first }()
	}
	const each = 5000
	for round := range b.N {
		for k := range arms {
			i := (k + round) % len(arms)
			r, _ := http.NewRequest("GET", "http://shop.example/", nil)
			began := time.Now()
			for range each {
				arms[i].ServeHTTP(deaf{make(http.Header)}, r)
			}
			spent[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(spent[1]-spent[0])/float64(b.N*each), "ns-more/op")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
}
