package main

import (
	"encoding/json"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
)

// newStore returns a feature store: 16 lookups at a time, about 2 ms each, but one in a
// hundred freezes for 1 to 2 s, and all of a customer whose name begins with "frozen".
//
// It is protected too, and believes what a lookup says of how long it is waited for: one
// that has no chance is refused at once, and one that is frozen ends with its limit, so
// that its slot is not held for nobody.
func newStore() http.Handler {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "lookup", Pool: gate.Pool{Slots: 16, Latency: 100 * time.Millisecond},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /features/{customer}", lookup)
	return httpgate.Middleware(g)(mux)
}

func lookup(w http.ResponseWriter, r *http.Request) {
	customer := r.PathValue("customer")
	wait := 2 * time.Millisecond
	if rand.IntN(100) == 0 || strings.HasPrefix(customer, "frozen") {
		wait = time.Second + rand.N(time.Second)
	}
	select {
	case <-time.After(wait):
		json.NewEncoder(w).Encode(featuresOf(customer))
	case <-r.Context().Done(): // nobody waits for it any more
	}
}

// featuresOf makes numbers up, for a customer always the same.
func featuresOf(customer string) features {
	h := fnv.New64a()
	h.Write([]byte(customer))
	dice := rand.New(rand.NewPCG(h.Sum64(), 1))
	first, times, each := dice.Float64()*700, 1+dice.Float64()*9, 5+dice.Float64()*45
	return features{dice.Float64() * min(first, 90), first, times, times * each, each, dice.Float64()}
}
