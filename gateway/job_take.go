package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
)

// headerReplayed says that an answer is that of an earlier request with the same key.
const headerReplayed = "Idempotent-Replayed"

// keyLongest bounds an idempotency key, in bytes, as Stripe's clients do.
const keyLongest = 255

// keyOf returns a request's idempotency key, "" for none. Clients send it bare or, as the
// draft says, as a quoted string: both are the same key.
func keyOf(h http.Header) (string, error) {
	values := h[jobs.HeaderKey]
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if n := len(key); n >= 2 && key[0] == '"' && key[n-1] == '"' {
		key = key[1 : n-1]
	}
	switch {
	case len(values) > 1:
		return "", errors.New("there is more than one Idempotency-Key")
	case key == "":
		return "", errors.New("the Idempotency-Key is empty")
	case len(key) > keyLongest:
		return "", fmt.Errorf("the Idempotency-Key is longer than %d bytes", keyLongest)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return "", errors.New("the Idempotency-Key has characters that are not printable ASCII")
		}
	}
	return key, nil
}

// sentence is an error as a problem's detail says it.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// scoped is a key within its scope: the tenant, whoever it is that brings it, and the
// class. Two of different scopes are two keys.
func scoped(key, by string, c *class, tenant string) string {
	if key == "" {
		return ""
	}
	return digest(c.name, tenant, by, key)
}

// fingerprint tells requests apart that are brought under one key.
func fingerprint(r *http.Request, body []byte) string {
	return digest(r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), string(body))
}

// digest is of several texts, none of which runs into the next.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// by is who brings a request, where that is proved.
func (w *caller) by() string {
	if w == nil || !w.identity.Verified() {
		return ""
	}
	return w.identity.Account()
}

// newJob is a job of a request that its class has looked at, with its body.
func (g *Gateway) newJob(r *http.Request, body []byte, c *class, who *caller, ask *gate.Request, key string) (ledger.NewJob, error) {
	head := jobs.HeadOf(r)
	head.Secure, head.Importance = who.secure(r), ask.Importance
	m, err := head.Message(body)
	return ledger.NewJob{
		ID: jobs.NewID(time.Now()), Class: c.name, Tenant: ask.Tenant, By: who.by(),
		Key: scoped(key, who.by(), c, ask.Tenant), Print: fingerprint(r, body), Request: m,
		Cost: max(ask.Cost, 1), Harmless: c.harmless(r.Method), Within: g.jobs.Deadline, Most: g.jobs.Most, Each: g.jobs.Each,
	}, err
}

// persist makes a job of a request that its class has no room for, and reports whether the
// request has been answered.
func (g *Gateway) persist(w http.ResponseWriter, r *http.Request, c *class, who *caller, ask *gate.Request, refused gate.Refusal) bool {
	if keeps, _ := w.(*jobs.Writer); keeps != nil && keeps.Alone() || !lasting(refused.Reason) {
		return false
	}
	done, ok := g.jobs.Takes()
	if !ok {
		return false
	}
	defer done()
	body, ok := g.bodyOf(w, r, c)
	if !ok {
		return true
	}
	key, err := keyOf(r.Header)
	if err != nil {
		g.problem(w, r, http.StatusBadRequest, reason.BadRequest, "Bad request", sentence(err))
		return true
	}
	n, err := g.newJob(r, body, c, who, ask, key)
	if err == nil {
		g.acceptJob(w, r, c, n)
		return true
	}
	g.log.Warn("a job could not be put together", "class", c.name, "error", err)
	return false
}

// bodyOf takes in a body that is to be kept. If it cannot be had the request is answered.
func (g *Gateway) bodyOf(w http.ResponseWriter, r *http.Request, c *class) ([]byte, bool) {
	if r.ContentLength > g.jobs.Body {
		g.refuse(w, r, c, gate.Refusal{Reason: reason.TooLarge, Class: c.name})
		return nil, false
	}
	if r.Body == nil {
		return nil, true
	}
	if unread(r) {
		http.NewResponseController(w).EnableFullDuplex()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, g.jobs.Body+1))
	switch {
	case int64(len(body)) > g.jobs.Body:
		g.refuse(w, r, c, gate.Refusal{Reason: reason.TooLarge, Class: c.name})
	case err != nil && r.Context().Err() != nil:
		panic(http.ErrAbortHandler)
	case err != nil:
		g.refuse(w, r, c, gate.Refusal{Reason: reason.BadRequest, Class: c.name})
	default:
		return body, true
	}
	return nil, false
}

// acceptJob writes a job and says 202, or why not.
func (g *Gateway) acceptJob(w http.ResponseWriter, r *http.Request, c *class, n ledger.NewJob) {
	a, err := g.jobs.Ledger.Accept(r.Context(), n)
	switch {
	case err != nil:
		g.ledgerFailed(w, r, c, err)
	case a.Claim != job.Free:
		g.claimed(w, r, c, &a)
	case a.Reason != reason.None:
		g.refuse(w, r, c, gate.Refusal{Reason: a.Reason, Class: c.name, RetryAfter: fullFor})
	default:
		g.jobs.Added(&a.Job)
		g.accepted(w, r, &a.Job, false)
	}
}

// fullFor is when whoever finds no room for a job is to come back.
const fullFor = 5 * time.Second

// ledgerFailed answers where nothing can be kept: then nothing is promised.
func (g *Gateway) ledgerFailed(w http.ResponseWriter, r *http.Request, c *class, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	g.log.Warn("the ledger does not answer", "class", c.name, "error", err)
	g.refuse(w, r, c, gate.Refusal{Reason: reason.LedgerUnavailable, Class: c.name, RetryAfter: time.Second})
}

// claimed answers a request by what its key says.
func (g *Gateway) claimed(w http.ResponseWriter, r *http.Request, c *class, a *ledger.Acceptance) {
	refuse := func(why reason.Reason) {
		g.refuse(w, r, c, gate.Refusal{Reason: why, Class: c.name, RetryAfter: time.Second})
	}
	switch a.Claim {
	case job.Conflict:
		refuse(reason.KeyConflict)
	case job.Known:
		g.jobs.Count(c.name).Replayed.Add(1)
		g.accepted(w, r, &a.Job, true)
	case job.InProgress:
		refuse(reason.KeyInProgress)
	case job.Lost:
		refuse(reason.Unknown)
	case job.Gone:
		g.problem(w, r, http.StatusUnprocessableEntity, reason.KeyConflict, "Answer not kept",
			fmt.Sprintf("The first request with this Idempotency-Key was answered with status %d, and its answer was too large to be kept. It is not done again.", a.Job.Status))
	case job.Replay:
		g.jobs.Count(c.name).Replayed.Add(1)
		w.Header()[headerReplayed] = []string{"true"}
		g.answerOf(w, r, &a.Job)
	}
}

// accepted says that a job is on disk, and where to ask for it.
func (g *Gateway) accepted(w http.ResponseWriter, r *http.Request, j *ledger.Job, again bool) {
	h := w.Header()
	if again {
		h[headerReplayed] = []string{"true"}
	}
	h["Location"] = []string{g.config().Jobs.Path + "/" + j.ID}
	h[httpgate.HeaderReason] = []string{reason.Accepted.String()}
	h[httpgate.HeaderRung] = rungPrimary
	g.showJob(w, r, http.StatusAccepted, j)
}

// answerOf answers with what a job was answered.
func (g *Gateway) answerOf(w http.ResponseWriter, r *http.Request, j *ledger.Job) {
	m, there, err := g.jobs.Ledger.MessageOf(r.Context(), j.ID, ledger.Answer)
	var head jobs.Head
	if err == nil && there {
		head, err = jobs.ReadHead(m)
	}
	switch {
	case err != nil:
		g.log.Warn("the ledger does not answer", "error", err)
		g.problem(w, r, http.StatusServiceUnavailable, reason.LedgerUnavailable, "Ledger unavailable", "What is kept cannot be read now.")
		return
	case !there:
		g.problem(w, r, http.StatusNotFound, reason.BadRequest, "No answer", "The job has no answer, or none that was kept; ask for the job itself.")
		return
	}
	g.own(w.Header(), r)
	g.deliver(w, r, func() {
		h := w.Header()
		for name, values := range head.Header {
			if !strings.EqualFold(name, httpgate.HeaderRequestID) {
				h[name] = values
			}
		}
		sign(h, r)
		h["Content-Length"] = []string{fmt.Sprint(len(m.Body))}
		w.WriteHeader(int(j.Status))
		if r.Method != http.MethodHead {
			w.Write(m.Body)
		}
	})
}

// once serves a request with an idempotency key once, and reports whether it has one.
func (g *Gateway) once(w http.ResponseWriter, r *http.Request, c *class, who *caller) bool {
	if r.Header[jobs.HeaderKey] == nil || isGRPC(r) || r.Header["Upgrade"] != nil {
		return false
	}
	key, err := keyOf(r.Header)
	if err != nil {
		g.problem(w, r, http.StatusBadRequest, reason.BadRequest, "Bad request", sentence(err))
		return true
	}
	ask := c.ask(r, 0)
	who.lower(c, r, &ask, c.cfg.Deadline.D())
	if ask.Refuse != reason.None {
		return false // and is told so
	}
	done, ok := g.jobs.Takes()
	if !ok {
		g.refuse(w, r, c, gate.Refusal{Reason: reason.QueueFull, Class: c.name, RetryAfter: time.Second})
		return true
	}
	body, ok := func() ([]byte, bool) { defer done(); return g.bodyOf(w, r, c) }()
	if !ok {
		return true
	}
	n, err := g.newJob(r, body, c, who, &ask, key)
	if err != nil {
		g.ledgerFailed(w, r, c, err)
		return true
	}
	if g.heldBefore(w, r, c, &n) {
		return true
	}
	a, err := g.jobs.Once(w, jobs.WithBody(r, body), n, func(k *jobs.Writer, r *http.Request) { g.admit(k, r, c, who) })
	switch {
	case err != nil:
		g.ledgerFailed(w, r, c, err)
	case a.Claim != job.Free:
		g.claimed(w, r, c, &a)
	case a.Reason != reason.None:
		g.refuse(w, r, c, gate.Refusal{Reason: a.Reason, Class: c.name, RetryAfter: fullFor})
	}
	return true
}

// heldBefore answers a request whose key is there already, before it costs its class
// anything, and reports whether it is.
func (g *Gateway) heldBefore(w http.ResponseWriter, r *http.Request, c *class, n *ledger.NewJob) bool {
	holder, err := g.jobs.Ledger.FindKey(r.Context(), n.Key)
	switch {
	case errors.Is(err, ledger.ErrNoJob):
		return false
	case err != nil:
		g.ledgerFailed(w, r, c, err)
		return true
	}
	a := ledger.Acceptance{Claim: holder.Claims(holder.Print == n.Print, holder.Kept), Job: holder}
	if a.Claim == job.Free {
		return false
	}
	g.claimed(w, r, c, &a)
	return true
}
