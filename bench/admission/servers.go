package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/engine"
	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// servers are the two sides and the upstream they share.
type servers struct {
	gateway, engine string // addresses
	closers         []func()
}

func (s *servers) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}

const configuration = `version: 1
upstreams:
  app: { url: %q }
classes:
  all:
    slots: 256
    budget: { latency: 300ms, service: 100ms }
    deadline: 1s
    tenant: { key: "header:X-Tenant", policy: wrr }
`

func serve() (*servers, error) {
	s := &servers{}
	body := bytes.Repeat([]byte("spillway"), bodyBytes/8)
	upstream, err := s.listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain; charset=utf-8"}
		_, _ = w.Write(body)
	}))
	if err != nil {
		return nil, err
	}
	to := &url.URL{Scheme: "http", Host: upstream}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.engine = l.Addr().String()
	go func() { _ = engine.Gateway(l, to) }()
	s.closers = append(s.closers, func() { _ = l.Close() })
	if err := s.startGateway(to); err != nil {
		return nil, err
	}
	return s, nil
}

// listen serves as the gateway's own server does where that costs anything.
func (s *servers) listen(h http.Handler) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	go func() { _ = server.Serve(l) }()
	s.closers = append(s.closers, func() { _ = server.Close() })
	return l.Addr().String(), nil
}

func (s *servers) startGateway(to *url.URL) error {
	cfg, err := config.Parse("admission.yaml", fmt.Appendf(nil, configuration, to))
	if err != nil {
		return err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, front.Close())
	}
	g, err := gateway.New(cfg, gateway.Options{
		Listener: front, AdminListener: admin, DrainLimit: time.Second,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(ctx)
	}()
	s.closers = append(s.closers, func() { cancel(); <-done })
	s.gateway = front.Addr().String()
	return nil
}
