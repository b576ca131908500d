package httpgate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// A client of a service that is broken at first.
func ExampleNewTransport() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Envoy-Attempt-Count") == "1" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer service.Close()
	store, err := caller.New(call.Policy{Timeout: 10 * time.Second, Retries: 1})
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: httpgate.NewTransport(nil, store)}
	defer client.CloseIdleConnections()
	resp, err := client.Get(service.URL)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 200
}
