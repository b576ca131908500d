package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// transport is the carrier for https and HTTP/2: net/http with a goroutine per
// request on the way.
type transport struct {
	g       *generator
	client  *http.Transport
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

func newTransport(ctx context.Context, g *generator) (*transport, error) {
	protocols := new(http.Protocols)
	switch {
	case g.Protocol == HTTP1:
		protocols.SetHTTP1(true)
	case g.templates.target.scheme == "https":
		protocols.SetHTTP2(true)
	default:
		protocols.SetUnencryptedHTTP2(true)
	}
	address := g.templates.target.address()
	probe := net.Dialer{Timeout: dialTimeout}
	nc, err := probe.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	nc.Close()
	t := &transport{g: g, client: &http.Transport{
		Protocols:              protocols,
		TLSClientConfig:        tlsConfig(g.TLS),
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           g.MaxInFlight,
		MaxIdleConnsPerHost:    g.MaxInFlight,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHead,
	}}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return t, nil
}

func tlsConfig(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	return c.Clone() // the transport adds its protocols
}

func (t *transport) prepare(s *shot, of *templates) {
	path := string(appendPath(nil, of.render(of.path)))
	// A nil request is reported when it is due.
	s.request, _ = http.NewRequest(of.method, of.target.scheme+"://"+of.target.host+path, nil)
	if s.request == nil {
		return
	}
	for _, h := range of.headers {
		value := string(appendValue(nil, of.render(h.value)))
		if h.name == "Host" {
			s.request.Host = value
		} else {
			s.request.Header.Add(h.name, value)
		}
	}
	text, filler := of.content()
	content := bytes.Clone(text)
	if filler > 0 {
		content = []byte(strings.Repeat("x", filler))
	}
	if len(content) > 0 {
		s.request.ContentLength = int64(len(content))
		s.wire = content
	}
}

func (t *transport) send(s *shot) {
	t.running.Go(func() {
		var resp response
		err := t.roundTrip(s, &resp)
		t.g.answered(s, &resp, err)
	})
}

var errBadURL = errors.New("the URL's template made no valid URL")

func (t *transport) roundTrip(s *shot, resp *response) error {
	if s.request == nil {
		return errBadURL
	}
	ctx, cancel := context.WithDeadline(t.ctx, t.g.giveUp(s))
	defer cancel()
	request := s.request.WithContext(ctx)
	// A body of unknown origin, empty where there is none, keeps net/http from
	// sending the request again by itself when a connection breaks.
	request.Body = io.NopCloser(bytes.NewReader(s.wire))
	s.departed(time.Now())
	answer, err := t.client.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	*resp = response{
		status:       answer.StatusCode,
		rung:         []byte(answer.Header.Get("Spillway-Rung")),
		reason:       []byte(answer.Header.Get("Spillway-Reason")),
		shadow:       []byte(answer.Header.Get("Spillway-Shadow")),
		retryAfter:   []byte(answer.Header.Get("Retry-After")),
		retryAfterMs: []byte(answer.Header.Get("Retry-After-Ms")),
		neverRetry:   strings.EqualFold(answer.Header.Get("X-Should-Retry"), "false"),
		keep:         t.g.Keep,
	}
	return unexpected(resp.discardAll(answer.Body))
}

func (t *transport) sever() { t.cancel() }

func (t *transport) close() {
	t.cancel()
	t.running.Wait()
	t.client.CloseIdleConnections()
}
