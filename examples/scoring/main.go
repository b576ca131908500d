package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gate/standin"
	"github.com/spillway-dev/spillway/policy/call"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "store" {
		log.Fatal(http.ListenAndServe("localhost:8090", newStore()))
	}
	h, err := newService("http://localhost:8090", lookups)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", h))
}

// lookups is how the store is called: 25 ms for each of two tries, and in each a second
// ask where the first has said nothing for 10 ms, which is longer than nearly all take.
// Retries and hedges are each at most a tenth of the lookups, or a store that is slow as
// a whole would get all the more to do; one that mostly fails is left alone for a second.
var lookups = call.Policy{
	Timeout: 25 * time.Millisecond,
	Retries: 1,
	Budget:  call.Budget{Percent: 10, Floor: 3},
	Hedge:   call.Hedge{After: 10 * time.Millisecond, Budget: call.Budget{Percent: 10, Floor: 3}},
	Breaker: call.Breaker{Failures: 50},
}

// service scores customers.
type service struct {
	store    *http.Client
	at       string
	standIns *standin.Ladder[float64]
}

// newService returns the service, protected: 32 requests run at a time, as many wait as
// can be answered within 100 ms, and the rest is told when to come back.
func newService(store string, policy call.Policy) (http.Handler, error) {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name:     "score",
		Deadline: 100 * time.Millisecond, DeadlineMax: time.Minute,
		Pool: gate.Pool{Slots: 32, Latency: 100 * time.Millisecond},
	}}})
	if err != nil {
		return nil, err
	}
	asks, err := caller.New(policy)
	if err != nil {
		return nil, err
	}
	known := standin.New(standin.Options[float64]{Limits: standin.Limits{Entries: 100_000, Age: 24 * time.Hour}})
	down, err := standin.NewLadder(standin.LadderOptions{}, standin.LastKnown(known), standin.Default(base))
	if err != nil {
		return nil, err
	}
	conns := http.DefaultTransport.(*http.Transport).Clone()
	conns.MaxIdleConnsPerHost = 64 // two asks for each slot
	s := &service{&http.Client{Transport: httpgate.NewTransport(conns, asks)}, store, down}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /score/{customer}", s.score)
	return httpgate.Middleware(g)(mux), nil
}

// score answers with the customer's score, or what stands in for it.
func (s *service) score(w http.ResponseWriter, r *http.Request) {
	customer := r.PathValue("customer")
	score, said, err := standin.Do(r.Context(), s.standIns, customer, func(ctx context.Context) (float64, error) {
		x, err := s.lookUp(ctx, customer)
		return model(x), err
	})
	if err != nil {
		return // the caller has gone: a default stands in for all else
	}
	w.Header().Set(httpgate.HeaderRung, said.Rung)
	w.Header().Set(httpgate.HeaderReason, said.Reason.String())
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"customer": customer, "score": math.Round(score*1000) / 1000})
}

// features are what the store knows of a customer.
type features [6]float64

func (s *service) lookUp(ctx context.Context, customer string) (x features, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.at+"/features/"+url.PathEscape(customer), nil)
	if err != nil {
		return x, err
	}
	resp, err := s.store.Do(req)
	if err != nil {
		return x, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return x, fmt.Errorf("the store answered %s", resp.Status)
	}
	return x, json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&x)
}

// The model is a logistic regression on how many days ago the customer bought last and
// first, and how often, for how much, how much at a time and how regularly.
var weights = features{-0.031, 0.002, 0.24, 0.0009, -0.004, 0.62}

const base = 0.234 // the share of customers who buy again: the score of nobody known

func model(x features) float64 {
	z := -0.7
	for i, w := range weights {
		z += w * x[i]
	}
	return 1 / (1 + math.Exp(-z))
}
