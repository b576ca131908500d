package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
)

// JobList is what GET /jobs answers.
type JobList struct {
	// Jobs are those that were asked for, the newest first.
	Jobs []jobs.State `json:"jobs"`
	// After is what to ask for next (after=), "" where that was all. A page may be empty
	// and not the last: each looks at so many rows.
	After string `json:"after,omitempty"`
}

// jobsListed is how many jobs a list has unless asked for another number.
const jobsListed = 50

// jobPaths adds what an operator may ask and do about jobs.
func (g *Gateway) jobPaths(mux *http.ServeMux) {
	kept := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if g.jobs == nil {
				http.Error(w, "no jobs are kept: write ledger and jobs in the file", http.StatusNotFound)
				return
			}
			next(w, r)
		}
	}
	mux.HandleFunc("GET /jobs", kept(g.listJobs))
	mux.HandleFunc("GET /jobs/{id}", kept(g.adminJob(func(w http.ResponseWriter, r *http.Request, j *ledger.Job) { g.showJob(w, r, http.StatusOK, j) })))
	mux.HandleFunc("GET /jobs/{id}/answer", kept(g.adminJob(g.answerOf)))
	mux.HandleFunc("POST /jobs", kept(g.byOperator(func(w http.ResponseWriter, r *http.Request, _ string) { g.submit(w, r, nil) })))
	mux.HandleFunc("DELETE /jobs/{id}", kept(g.byOperator(func(w http.ResponseWriter, r *http.Request, by string) {
		g.log.Info("a job is cancelled", "job", r.PathValue("id"), "by", by)
		g.cancelJob(w, r, r.PathValue("id"))
	})))
	mux.HandleFunc("POST /jobs/{id}/resolve", kept(g.byOperator(g.resolveJob)))
}

// adminJob has a job found for an operator, who may see any.
func (g *Gateway) adminJob(next func(http.ResponseWriter, *http.Request, *ledger.Job)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		j, err := g.jobs.Ledger.FindJob(r.Context(), r.PathValue("id"))
		if g.foundJob(w, r, err) {
			next(w, r, &j)
		}
	}
}

// listJobs answers GET /jobs?class=&tenant=&state=&after=&limit=&keys=1.
func (g *Gateway) listJobs(w http.ResponseWriter, r *http.Request) {
	f, n, err := parseJobQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	all, more, err := g.jobs.Ledger.Jobs(r.Context(), f, n)
	if !g.foundJob(w, r, err) {
		return
	}
	list := JobList{Jobs: make([]jobs.State, len(all)), After: more}
	for i := range all {
		list.Jobs[i] = jobs.Shown(&all[i])
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(list) // an error is the operator having gone
}

func parseJobQuery(v url.Values) (f ledger.Filter, n int, err error) {
	n = jobsListed
	for name, values := range v { // order does not matter: any error is told
		switch text := values[0]; name {
		case "class":
			f.Class = text
		case "tenant":
			f.Tenant = text
		case "after":
			f.After = text
		case "keys":
			f.Inline = text == "1"
		case "state":
			s, ok := job.ParseState(text)
			if !ok {
				return f, n, fmt.Errorf("state %q; there are waiting, running, unknown, done, dead and cancelled", text)
			}
			f.State = &s
		case "limit":
			if n, err = strconv.Atoi(text); err != nil || n < 1 || n > ledger.ListMost {
				return f, n, fmt.Errorf("limit %q; write 1 to %d", text, ledger.ListMost)
			}
		default:
			return f, n, fmt.Errorf("%q is nothing that a list goes by; there are class, tenant, state, after, limit and keys", name)
		}
	}
	return f, n, nil
}

// resolveJob answers POST /jobs/{id}/resolve?notstarted=1&evidence=TEXT: what is unknown
// ends by evidence.
func (g *Gateway) resolveJob(w http.ResponseWriter, r *http.Request, by string) {
	q := r.URL.Query()
	evidence := q.Get("evidence")
	if evidence == "" {
		http.Error(w, "say how it is known: evidence=TEXT", http.StatusBadRequest)
		return
	}
	j, err := g.jobs.Ledger.ResolveJob(r.Context(), r.PathValue("id"), q.Get("notstarted") == "1", evidence+" ("+by+")")
	if !g.foundJob(w, r, err) {
		return
	}
	g.log.Warn("a job that was unknown is resolved", "job", j.ID, "state", j.State.String(), "by", by)
	if j.State == job.Waiting {
		g.jobs.Waits(&j)
	}
	g.showJob(w, r, http.StatusOK, &j)
}
