package main

import (
	"log"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
)

func main() {
	log.Fatal(http.ListenAndServe("localhost:8080", protected(http.HandlerFunc(hello))))
}

func protected(h http.Handler) http.Handler {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "hello",
		Pool: gate.Pool{Slots: 4, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	return httpgate.Middleware(g, httpgate.Tenant(httpgate.Header("X-Tenant")))(h)
}

func hello(w http.ResponseWriter, r *http.Request) {
	time.Sleep(100 * time.Millisecond) // the work
	w.Write([]byte("hello\n"))
}
