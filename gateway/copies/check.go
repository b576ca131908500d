package copies

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// watch begins to check the copy, if checks are asked for. It is called with mu
// held.
func (s *Set) watch(c *Copy) {
	if s.cfg.Health.Kind == Unchecked || c == nil || c.drains || s.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	c.unwatch = cancel
	s.work.Go(func() { c.watch(ctx) })
}

// watch checks the copy until it drains or the set is closed.
func (c *Copy) watch(ctx context.Context) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		err := c.check(ctx)
		if ctx.Err() != nil {
			return
		}
		c.heard(err)
		wait.Reset(jittered(c.set.cfg.Health.Interval))
	}
}

// jittered returns d, give or take a fifth.
func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}

// heard notes what a check came to.
func (c *Copy) heard(err error) {
	what := "ok"
	if err != nil {
		what = err.Error()
	}
	c.checked.Store(&what)
	c.set.mu.Lock()
	defer c.set.unlock()
	if c.set.copies[c.id] != c {
		return
	}
	c.set.spread.Checked(c.set.now(), c.id, err == nil)
}

func (c *Copy) lastCheck() string {
	if s := c.checked.Load(); s != nil {
		return *s
	}
	return ""
}

// check asks the copy once whether it is well.
func (c *Copy) check(ctx context.Context) error {
	h := &c.set.cfg.Health
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	switch h.Kind {
	case Connect:
		raw, err := c.probe(ctx)
		if err == nil {
			raw.Close()
		}
		return err
	case GRPC:
		return c.checkGRPC(ctx, h.Service)
	}
	return c.checkHTTP(ctx, h)
}

// probe makes a connection for a check, which counts nowhere: a copy at its cap is
// not unwell.
func (c *Copy) probe(ctx context.Context, protocols ...string) (net.Conn, error) {
	raw, err := c.connect(ctx)
	if err != nil || !c.secure {
		return raw, err
	}
	secured, err := c.handshake(ctx, raw, protocols)
	if err != nil {
		raw.Close()
		return nil, err
	}
	return secured, nil
}

// prober returns a transport for one check.
func (c *Copy) prober(p *http.Protocols, protocols ...string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return c.probe(ctx, protocols...) }
	return &http.Transport{
		DialContext: dial, DialTLSContext: dial, Protocols: p, DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: c.secure,
	}
}

// answerMost is how much of an answer to a check is read.
const answerMost = 4 << 10

func (c *Copy) checkHTTP(ctx context.Context, h *Health) error {
	at, err := url.ParseRequestURI(h.Path)
	if err != nil {
		return err
	}
	at.Scheme, at.Host, at.Path, at.RawPath = c.base.Scheme, c.base.Host, strings.TrimSuffix(c.base.Path, "/")+at.Path, ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "spillway-check")
	t := c.prober(protocols(!c.h2c, c.h2c), "http/1.1")
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, answerMost))
	if want := h.Status; want != 0 && res.StatusCode != want || want == 0 && res.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %d", h.Path, res.StatusCode)
	}
	return nil
}
