package httpgate_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
)

// Who says that it has tried before goes after who does not, if callers are heeded, and
// nothing that a caller can write has it go before anybody.
func TestRetriesGoLastWhereTheyAreHeeded(t *testing.T) {
	const envoy, grpc, sdk = "X-Envoy-Attempt-Count", "Grpc-Previous-Rpc-Attempts", "X-Stainless-Retry-Count"
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		for _, k := range []struct {
			name, header, value string
			off, last           bool
		}{
			{"Envoy's second", envoy, "2", false, true},
			{"gRPC's second", grpc, "1", false, true},
			{"an SDK's second", sdk, "1", false, true},
			{"not heeded", envoy, "2", true, false},
			{"Envoy's first", envoy, "1", false, false},
			{"less than the first", envoy, "0", false, false},
			{"negative", sdk, "-1", false, false},
			{"huge", grpc, "99999999999999999999", false, false},
			{"nonsense", envoy, "second", false, false},
		} {
			g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Minute, Bound: 8, RetriesLast: true}})
			var mu sync.Mutex
			var order []string
			s := serve(httpgate.Middleware(g, httpgate.HeedRetries(!k.off))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, r.Header.Get("X-Name"))
			})))
			held, err := g.Acquire(t.Context(), gate.Request{})
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for i, name := range []string{"before", "claims", "after"} {
				header := []string{"X-Name", name}
				if name == "claims" {
					header = append(header, k.header, k.value)
				}
				all.Go(func() { s.get(t.Context(), t, header...) })
				eventually(t, "it to wait", func() bool { return g.States()[0].Waiting == i+1 })
			}
			held.Done()
			all.Wait()
			want := []string{"before", "claims", "after"}
			if k.last {
				want = []string{"before", "after", "claims"}
			}
			if !slices.Equal(order, want) {
				t.Errorf("%s: served %q, want %q", k.name, order, want)
			}
		}
	})
}
