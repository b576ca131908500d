package gateway_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/gateway/jobs"
)

// A tenant who brings one job after another has brought a hundred is served within a
// round, and one whose own limit refuses holds nobody up.
func TestJobsOfTenantsTakeTurns(t *testing.T) {
	var mu sync.Mutex
	var order []string
	begin := make(chan struct{})
	h := keeping(t, "jobs: { path: /v1/jobs, workers: 1 }\n  all: { slots: 1, tenant: { key: \"header:X-Tenant\", policy: wrr } }", func(_ http.ResponseWriter, r *http.Request) {
		<-begin
		mu.Lock()
		defer mu.Unlock()
		order = append(order, r.Header.Get("X-Tenant"))
	})
	job := func(tenant string) string {
		return h.submit(fmt.Sprintf(`{"request": {"path": "/", "headers": {"X-Tenant": %q}}}`, tenant))
	}
	var last string
	for range 40 {
		last = job("noisy")
	}
	quiet := job("quiet")
	close(begin)
	h.becomes(quiet, "done")
	h.becomes(last, "done")
	for i, who := range order {
		if who == "quiet" && i > 3 {
			t.Errorf("quiet was served after %d of noisy's", i)
		}
	}
	if len(order) != 41 {
		t.Errorf("%d calls", len(order))
	}
}

// What waits can be taken back; what runs is not tried again; what waits too long is dead
// and never called.
func TestJobsEndWithoutACall(t *testing.T) {
	var mu sync.Mutex
	var called []string
	hold := make(chan struct{})
	h := keeping(t, "jobs: { path: /v1/jobs, workers: 1, pause: { base: 1ms, max: 1ms } }\n  all: { slots: 1, repeat: on }", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		called = append(called, r.URL.Path)
		mu.Unlock()
		<-hold
		w.WriteHeader(500)
	})
	runs := h.submit(`{"request": {"path": "/runs"}}`)
	h.becomes(runs, "running")
	waits := h.submit(`{"request": {"path": "/waits"}}`)
	late := h.submit(`{"request": {"path": "/late"}, "deadline": "1ms"}`)
	if g := h.send("DELETE", "/v1/jobs/"+waits, nil); g.StatusCode != 200 || state(t, g).State != "cancelled" {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
	if g := h.send("DELETE", "/v1/jobs/"+waits, nil); g.StatusCode != 409 {
		t.Errorf("again: %d %s", g.StatusCode, g.body)
	}
	if g := h.send("DELETE", "/v1/jobs/"+runs, nil); g.StatusCode != 202 || !state(t, g).Cancelled {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
	if s := h.becomes(late, "dead"); s.Reason != "expired" || s.Attempts != 0 {
		t.Errorf("%+v", s)
	}
	close(hold)
	if s := h.becomes(runs, "cancelled"); s.Attempts != 1 {
		t.Errorf("%+v", s)
	}
	if len(called) != 1 {
		t.Errorf("called: %v", called)
	}
	var list gateway.JobList
	if err := json.Unmarshal([]byte(h.adminGet("/jobs?state=dead").body), &list); err != nil || len(list.Jobs) != 1 || list.Jobs[0].ID != late {
		t.Errorf("dead letters: %+v, %v", list, err)
	}
	if m := h.adminGet("/metrics").body; !strings.Contains(m, `spillway_jobs_waiting{class="all"} 0`) || !strings.Contains(m, `spillway_jobs_accepted_total{class="all"} 3`) {
		t.Error("metrics do not say so")
	}
}

// The end of a job is told, signed, again until it is heard, and nowhere else.
func TestTheEndOfAJobIsTold(t *testing.T) {
	const secret = "a secret of the hooks"
	type delivery struct {
		path, id, signature, stamp string
		body                       []byte
	}
	heard := make(chan delivery, 10)
	var mu sync.Mutex
	n := 0
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		heard <- delivery{r.URL.Path, r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Signature"), r.Header.Get("Webhook-Timestamp"), b}
		mu.Lock()
		defer mu.Unlock()
		if n++; n == 1 {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}
	}))
	defer hooks.Close()
	h := keeping(t, fmt.Sprintf("jobs: { path: /v1/jobs, webhooks: { hosts: [%q], secret: %q } }\n  all: {}", hooks.URL, secret), func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "the answer is not told")
	})
	id := h.submit(fmt.Sprintf(`{"request": {"path": "/", "headers": {"Authorization": "Bearer hidden"}}, "webhook": "%s/done"}`, hooks.URL))
	for range 2 {
		d := <-heard
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%s.%s.%s", d.id, d.stamp, d.body)
		var doc struct {
			Type string     `json:"type"`
			Data jobs.State `json:"data"`
		}
		err := json.Unmarshal(d.body, &doc)
		if err != nil || d.path != "/done" || d.id != id || doc.Type != "job.ended" || doc.Data.State != "done" || d.signature != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%+v, %v: %s", d, err, d.body)
		}
		if s := string(d.body); strings.Contains(s, "hidden") || strings.Contains(s, "the answer") {
			t.Errorf("it tells %s", s)
		}
	}
	until(t, "it is known to be heard", func() bool { return state(t, h.get("/v1/jobs/"+id)).Told == 2 })
}
