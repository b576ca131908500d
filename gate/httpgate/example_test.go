package httpgate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
)

// A handler behind a gate, and what a caller sees who is one too many.
func ExampleMiddleware() {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "checkout",
		Pool: gate.Pool{Slots: 1, Latency: 100 * time.Millisecond, Service: 100 * time.Millisecond},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	protect := httpgate.Middleware(g, httpgate.Tenant(httpgate.Header("X-Tenant")))

	get := func(h http.Handler) *http.Response {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/checkout/", nil))
		return w.Result()
	}
	var h http.Handler
	calls := 0
	h = protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			second := get(h) // while the first holds the slot
			fmt.Println(second.StatusCode, second.Header.Get("Spillway-Rung"), second.Header.Get("Spillway-Reason"))
		}
	}))
	first := get(h)
	fmt.Println(first.StatusCode, first.Header.Get("Spillway-Rung"), first.Header.Get("Spillway-Reason"))
	// Output:
	// 503 refusal queue_full
	// 200 primary served
}
