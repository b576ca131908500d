package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Submission is what is brought to become a job.
type Submission struct {
	// Request is what is to be asked of the upstream, as its caller would ask it.
	Request struct {
		Method  string            `json:"method"` // default POST
		Path    string            `json:"path"`   // with its query
		Host    string            `json:"host,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		// One of these is its body: a text, bytes in base64, or a JSON value.
		Body   string          `json:"body,omitempty"`
		Base64 []byte          `json:"body_base64,omitempty"`
		JSON   json.RawMessage `json:"json,omitempty"`
	} `json:"request"`
	// Deadline is until when it must have been started, as in 1h30m; default and longest
	// are the configuration's.
	Deadline string `json:"deadline,omitempty"`
	// Webhook is where its end is told.
	Webhook string `json:"webhook,omitempty"`
}

// submissionMost is what there may be of a submission beside its request's body.
const submissionMost = 128 << 10

// ofJobs answers what is asked at the path of jobs, and reports whether it was.
func (g *Gateway) ofJobs(w http.ResponseWriter, r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, g.config().Jobs.Path)
	if g.config().Jobs.Path == "" || !ok || rest != "" && rest[0] != '/' {
		return false
	}
	who := g.meet(r)
	if who != nil && who.denied != 0 {
		g.unauthorized(w, r, gate.Refusal{Reason: reason.Unauthorized}, who)
		return true
	}
	id, sub, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case id == "" && r.Method == http.MethodPost:
		g.submit(w, r, who)
	case id == "":
		g.wrongMethod(w, r, "POST")
	case sub == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead), sub == "answer" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		if j, ok := g.jobFor(w, r, who, id); ok {
			if sub == "answer" {
				g.answerOf(w, r, &j)
			} else {
				g.showJob(w, r, http.StatusOK, &j)
			}
		}
	case sub == "" && r.Method == http.MethodDelete:
		if _, ok := g.jobFor(w, r, who, id); ok {
			g.cancelJob(w, r, id)
		}
	default:
		g.wrongMethod(w, r, "GET, HEAD, DELETE")
	}
	return true
}

func (g *Gateway) wrongMethod(w http.ResponseWriter, r *http.Request, right string) {
	w.Header()["Allow"] = []string{right}
	g.problem(w, r, http.StatusMethodNotAllowed, reason.BadRequest, "Method not allowed", "Jobs are brought with POST, asked for with GET and cancelled with DELETE.")
}

// jobFor returns a job for who may see it: whoever knows its id, or, where it was brought
// by somebody who proved who he is, he. Else the request is answered.
func (g *Gateway) jobFor(w http.ResponseWriter, r *http.Request, who *caller, id string) (ledger.Job, bool) {
	j, err := g.jobs.Ledger.FindJob(r.Context(), id)
	if err == nil && j.Inline {
		err = ledger.ErrNoJob
	}
	if err == nil && j.By != "" && j.By != who.by() {
		err = ledger.ErrNoJob
	}
	return j, g.foundJob(w, r, err)
}

// foundJob answers where a job could not be had.
func (g *Gateway) foundJob(w http.ResponseWriter, r *http.Request, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, ledger.ErrNoJob):
		g.problem(w, r, http.StatusNotFound, reason.BadRequest, "No such job", "There is no such job, or it ended so long ago that it was forgotten.")
	case errors.Is(err, job.ErrOver), errors.Is(err, job.ErrUnknown), errors.Is(err, job.ErrEarly):
		g.problem(w, r, http.StatusConflict, reason.BadRequest, "Not now", err.Error())
	default:
		g.log.Warn("the ledger does not answer", "error", err)
		g.problem(w, r, http.StatusServiceUnavailable, reason.LedgerUnavailable, "Ledger unavailable", "Jobs cannot be read now.")
	}
	return false
}

// submit takes a job in.
func (g *Gateway) submit(w http.ResponseWriter, r *http.Request, who *caller) {
	done, ok := g.jobs.Takes()
	if !ok {
		g.refuse(w, r, g.current.Load().classes[0], gate.Refusal{Reason: reason.QueueFull, RetryAfter: time.Second})
		return
	}
	defer done()
	most := g.jobs.Body/3*4 + submissionMost
	raw, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case err != nil:
		panic(http.ErrAbortHandler)
	case int64(len(raw)) > most:
		g.problem(w, r, http.StatusRequestEntityTooLarge, reason.TooLarge, "Too large", "The submission is larger than a job may be (jobs.body).")
		return
	}
	n, c, err := g.readSubmission(r, raw, who)
	switch {
	case errors.Is(err, errNoClass):
		g.unroutable(w, r, http.StatusNotFound)
	case errors.Is(err, errDenied):
		g.unauthorized(w, r, gate.Refusal{Reason: reason.Unauthorized, Class: c.name}, who)
	case err != nil:
		g.problem(w, r, http.StatusBadRequest, reason.BadRequest, "Bad request", err.Error())
	case n.Request.Body != nil && int64(len(n.Request.Body)) > g.jobs.Body:
		g.problem(w, r, http.StatusRequestEntityTooLarge, reason.TooLarge, "Too large", "The request's body is larger than a job's may be (jobs.body).")
	default:
		g.acceptJob(w, r, c, n)
	}
}

var (
	errNoClass = errors.New("no class takes the request")
	errDenied  = errors.New("its caller may not use the class")
)

// readSubmission makes a job of a submission: validated as the request itself would be
// when it comes.
func (g *Gateway) readSubmission(r *http.Request, raw []byte, who *caller) (n ledger.NewJob, c *class, err error) {
	s, body, err := parseSubmission(raw)
	if err != nil {
		return n, nil, err
	}
	key, err := keyOf(r.Header)
	if err != nil {
		return n, nil, err
	}
	in, err := s.request(r, body, key)
	if err != nil {
		return n, nil, err
	}
	in, ok := resolve(in)
	if !ok {
		return n, nil, errors.New("request.path has dot segments beside percent-encoding")
	}
	if c = g.classify(in, who); c == nil {
		return n, nil, errNoClass
	}
	ask := c.ask(in, 0)
	who.lower(c, in, &ask, c.cfg.Deadline.D())
	if who != nil && who.denied != 0 {
		return n, c, errDenied
	}
	if n, err = g.newJob(in, body, c, who, &ask, key); err != nil {
		return n, c, err
	}
	if s.Webhook != "" {
		if err := g.jobs.Hooks.Allows(s.Webhook); err != nil {
			return n, c, err
		}
		n.Webhook = s.Webhook
	}
	if s.Deadline != "" {
		d, err := time.ParseDuration(s.Deadline)
		if err != nil || d <= 0 {
			return n, c, fmt.Errorf("deadline %q is no time from now, such as 90s or 1h30m", s.Deadline)
		}
		n.Within = min(d, g.jobs.DeadlineMax)
	}
	return n, c, nil
}

// parseSubmission reads a submission, and which body its request has.
func parseSubmission(raw []byte) (s Submission, body []byte, err error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, nil, fmt.Errorf("the submission cannot be read: %w", err)
	}
	if d.More() {
		return s, nil, errors.New("there is more than one submission")
	}
	bodies := 0
	for _, b := range [][]byte{[]byte(s.Request.Body), s.Request.Base64, s.Request.JSON} {
		if len(b) > 0 {
			body = b
			bodies++
		}
	}
	if bodies > 1 {
		return s, nil, errors.New("request has more than one of body, body_base64 and json")
	}
	return s, body, nil
}

// request is what is to be asked, as if it had come from whoever brings the submission.
func (s *Submission) request(r *http.Request, body []byte, key string) (*http.Request, error) {
	q := &s.Request
	if q.Method == "" {
		q.Method = http.MethodPost
	}
	head := jobs.Head{Method: q.Method, Target: q.Path, Host: q.Host, Remote: r.RemoteAddr, Header: http.Header{}}
	if head.Host == "" {
		head.Host = r.Host
	}
	if q.JSON != nil {
		head.Header.Set("Content-Type", "application/json")
	}
	for name, value := range q.Headers {
		head.Header.Set(name, value)
	}
	if key != "" {
		head.Header.Set(jobs.HeaderKey, `"`+key+`"`)
	}
	if err := head.Check(); err != nil {
		return nil, err
	}
	in, err := head.Request(context.WithoutCancel(r.Context()), body)
	if err != nil {
		return nil, fmt.Errorf("request.path: %w", err)
	}
	in.TLS = r.TLS
	return in, nil
}

// cancelJob takes a job back.
func (g *Gateway) cancelJob(w http.ResponseWriter, r *http.Request, id string) {
	j, err := g.jobs.Ledger.CancelJob(r.Context(), id)
	if !g.foundJob(w, r, err) {
		return
	}
	status := http.StatusOK
	if !j.State.Final() { // it runs, and will not be tried again
		status = http.StatusAccepted
	}
	g.showJob(w, r, status, &j)
}

// showJob answers with a job. Until its end it says when to ask again.
func (g *Gateway) showJob(w http.ResponseWriter, r *http.Request, status int, j *ledger.Job) {
	g.own(w.Header(), r)
	g.deliver(w, r, func() {
		h := w.Header()
		identify(r)
		sign(h, r)
		h[textproto.CanonicalMIMEHeaderKey("Content-Type")] = []string{"application/json"}
		h["Cache-Control"] = []string{"no-store"}
		if !j.State.Final() {
			h["Retry-After"] = []string{"1"}
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			json.NewEncoder(w).Encode(jobs.Shown(j)) // an error is the caller having gone
		}
	})
}
