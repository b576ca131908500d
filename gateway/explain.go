package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/observe/decisions"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// identify returns the request's id: the caller's, if it is one, else a new one,
// which the upstream then gets as well.
func identify(r *http.Request) string {
	id := httpgate.RequestID(r)
	if ids := r.Header[httpgate.HeaderRequestID]; len(ids) != 1 || ids[0] != id {
		r.Header[httpgate.HeaderRequestID] = []string{id}
	}
	return id
}

// sign puts the request's id on its answer, unless the upstream's own is there.
func sign(h http.Header, r *http.Request) {
	if _, signed := h[httpgate.HeaderRequestID]; !signed {
		h[httpgate.HeaderRequestID] = r.Header[httpgate.HeaderRequestID]
	}
}

// remember has the gates of a generation tell why they decide as they do, as far
// as its configuration wants that remembered. What was remembered stays.
func (g *Gateway) remember(n *generation) {
	e := n.cfg.Explain
	g.decisions.Keep(e.Remember, e.Keep.D())
	for _, r := range n.resources {
		if e.Off {
			r.gate.TellCases(nil)
			continue
		}
		r.gate.TellCases(func(class, id string, x *boundary.Case) { g.decisions.Add(r.name, class, id, x) })
	}
}

// account remembers a refusal that is not the gate's.
func (g *Gateway) account(r *http.Request, c *class, refused gate.Refusal) {
	switch refused.Reason {
	case reason.Failed, reason.BadRequest, reason.TooLarge:
		x := boundary.Case{Stage: boundary.Running, Reason: refused.Reason, RetryAfter: refused.RetryAfter}
		if !c.tenant.IsZero() {
			x.Tenant = extract(c.tenant, r)
		}
		g.decisions.Add(c.upstream.name, c.name, r.Header.Get(httpgate.HeaderRequestID), &x)
	}
}

// Explained is what GET /explain answers.
type Explained struct {
	// Decisions are those that were asked for, the newest first.
	Decisions []decisions.Decision `json:"decisions"`
}

// explain answers why requests were not answered in full.
func (g *Gateway) explain(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query(), time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(Explained{g.decisions.Find(q)}) // an error is the operator having gone
}

// parseQuery reads id, tenant, class, reason, since and limit.
func parseQuery(v url.Values, now time.Time) (q decisions.Query, err error) {
	for name := range v { // order does not matter: any of them is told
		switch name {
		case "id", "tenant", "class", "reason", "since", "limit":
		default:
			return q, fmt.Errorf("%q is nothing to ask for; write id, tenant, class, reason, since or limit", name)
		}
	}
	q.ID, q.Class = v.Get("id"), v.Get("class")
	if v.Has("tenant") {
		tenant := v.Get("tenant")
		q.Tenant = &tenant
	}
	if s := v.Get("reason"); s != "" {
		if q.Reason, err = reason.Parse(s); err != nil {
			return q, fmt.Errorf("reason: %w; write one of docs/reasons, for example queue_full", err)
		}
	}
	if s := v.Get("since"); s != "" {
		if q.Since, err = parseSince(s, now); err != nil {
			return q, err
		}
	}
	if s := v.Get("limit"); s != "" {
		if q.Limit, err = strconv.Atoi(s); err != nil || q.Limit < 1 || q.Limit > decisions.LimitMost {
			return q, fmt.Errorf("limit must be a number from 1 to %d", decisions.LimitMost)
		}
	}
	return q, nil
}

// parseSince reads an instant, or how long ago it was.
func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("since must be a duration, for example 5m, or an instant as 2026-03-01T12:00:00Z")
}
