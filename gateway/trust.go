package gateway

import (
	"context"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/trust"
)

// trusting is what a generation believes: who its callers are, what they may
// claim, and who is one client. It is nil where nobody is asked, because
// everybody may claim everything and no client is limited.
type trusting struct {
	*trust.Authority
	cfg     trust.Config
	clients assemble.Clients
	salt    salt     // of clients' keys; the process's, so that buckets survive a reload
	ask     []string // what a caller without proof is told to bring

	begin sync.Once
	stop  func()
}

// newTrusting makes it for a configuration, with what is not the configuration's
// taken over from the one before, which may be nil.
func newTrusting(cfg *config.Config, before *trusting) (*trusting, error) {
	t := &trusting{cfg: assemble.Trust(cfg), clients: assemble.ClientsOf(cfg), stop: func() {}}
	if !t.clients.Limited && reflect.DeepEqual(t.cfg, trust.Open()) {
		return nil, nil
	}
	switch {
	case before == nil:
		t.salt = newSalt()
	case reflect.DeepEqual(before.cfg, t.cfg) && reflect.DeepEqual(before.clients, t.clients):
		return before, nil
	default:
		t.salt = before.salt
	}
	var err error
	if t.Authority, err = trust.New(t.cfg); err != nil {
		return nil, err
	}
	if before != nil {
		t.Authority.Inherit(before.Authority)
	}
	if t.cfg.Tokens != nil {
		t.ask = append(t.ask, `Bearer realm="spillway"`)
	}
	if t.cfg.KeyFile != "" {
		t.ask = append(t.ask, `ApiKey realm="spillway", header="`+t.cfg.KeyHeader+`"`)
	}
	return t, nil
}

// trusts puts what a generation believes into force, instead of what the one
// before it did.
func (g *Gateway) trusts(t, before *trusting) {
	if t == before {
		return
	}
	if t != nil {
		t.begin.Do(func() {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan struct{})
			go func() { t.Run(ctx, g.log.Logger); close(ended) }()
			t.stop = func() { cancel(); <-ended }
		})
		g.seen.Callers.Show(t.Counts)
	}
	before.close()
}

// close ends what it does in the background.
func (t *trusting) close() {
	if t != nil {
		t.stop()
	}
}

// caller is who makes a request and what it may claim. It is nil where nobody is
// asked.
type caller struct {
	*trusting
	identity trust.Identity
	origin   trust.Origin
	grant    trust.Grant
	denied   int // status of its refusal, 0 while it may ask
}

// meet finds out who makes a request. From then on the request comes from where
// its caller is, and not from the proxies in between.
func (g *Gateway) meet(r *http.Request) *caller {
	t := g.current.Load().trust
	if t == nil {
		return nil
	}
	w := &caller{trusting: t, origin: t.Origin(r)}
	w.identity = t.Identify(r, w.origin.Proxied)
	w.grant = t.Grant(&w.identity)
	if t.Refuses(&w.identity) {
		w.denied = http.StatusUnauthorized
	}
	if w.origin.Client != w.origin.Peer {
		r.RemoteAddr = netip.AddrPortFrom(w.origin.Client, 0).String()
	}
	return w
}

// secure reports whether the caller speaks TLS: to the gateway, or to the nearest
// proxy, if that is trusted and says so.
func (w *caller) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if w == nil || !w.origin.Proxied {
		return false
	}
	said := r.Header["X-Forwarded-Proto"]
	return len(said) == 1 && strings.EqualFold(said[0], "https")
}

// mayUse reports whether the caller may use the class that its request fits.
func (w *caller) mayUse(c *class) bool {
	if w == nil || w.grant.Role().MayUse(c.name) && (len(c.cfg.Match.Headers) == 0 || w.grant.May(trust.ClaimClass)) {
		return true
	}
	w.lowered(trust.ClaimClass)
	return false
}

// deny says that the caller may use no class that its request fits.
func (w *caller) deny() {
	if w.denied == 0 {
		w.denied = http.StatusForbidden
		if !w.identity.Verified() {
			w.denied = http.StatusUnauthorized // who proved who it is might
		}
	}
}

func (w *caller) lowered(c trust.Claim) { w.Lowered[c].Add(1) }

// lower takes what a request claims down to what its caller may claim, in what
// the gate is told and in what the upstream sees.
func (w *caller) lower(c *class, r *http.Request, q *gate.Request, usual time.Duration) {
	if w == nil {
		return
	}
	w.tenant(c, r, q)
	if c.cfg.Session.Key.Kind == config.FromIdentity && w.identity.Verified() {
		q.Session = gate.SessionKey(w.identity.Name)
	}
	if !c.importance.IsZero() {
		granted, lowered := w.grant.Importance(q.Importance, c.levels)
		if q.Importance = granted; lowered {
			w.lowered(trust.ClaimImportance)
		}
		if lowered || several(r, c.importance) {
			overwrite(r, c.importance, c.levels[granted])
		}
	}
	granted, lowered := w.grant.Deadline(q.Timeout, usual)
	if q.Timeout = granted; lowered {
		w.lowered(trust.ClaimDeadline)
	}
	q.Retry = w.Retry(r.Header, &w.identity)
	q.Client = w.client()
	if w.denied != 0 {
		q.Refuse = reason.Unauthorized
	}
}

func (w *caller) tenant(c *class, r *http.Request, q *gate.Request) {
	switch c.tenant.Kind {
	case "", config.FromClient:
	case config.FromIdentity:
		q.Tenant = bounded(w.identity.Account())
	default:
		granted, lowered := w.grant.Tenant(q.Tenant, &w.identity)
		if q.Tenant = bounded(granted); lowered {
			w.lowered(trust.ClaimTenant)
		}
		if !w.grant.May(trust.ClaimTenant) || several(r, c.tenant) {
			overwrite(r, c.tenant, granted) // the service may go by it
		}
	}
}

// several reports whether a claim is made more than once in a header. The first
// was looked at; the upstream must not go by another.
func several(r *http.Request, k config.Key) bool {
	return k.Kind == config.FromHeader && len(r.Header[k.Name]) > 1
}

// overwrite has the upstream see what a claim was lowered to, where it is made
// in a header.
func overwrite(r *http.Request, k config.Key, value string) {
	switch {
	case k.Kind != config.FromHeader || k.Name == "Host":
	case value == "":
		delete(r.Header, k.Name)
	default:
		r.Header[k.Name] = []string{value}
	}
}

// unauthorized answers a caller who may not ask: 401 if it has proved nothing,
// 403 if who it is may not.
func (g *Gateway) unauthorized(w http.ResponseWriter, r *http.Request, refused gate.Refusal, who *caller) {
	g.log.refused(r, refused)
	if who.denied == http.StatusUnauthorized && len(who.ask) > 0 {
		w.Header()["Www-Authenticate"] = who.ask
	}
	g.decline(w, r, func() { httpgate.AnswerStatus(w, r, refused, who.denied) })
}
