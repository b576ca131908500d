package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/bench/internal/wrk"
)

// The arms.
const (
	gatewayArm = "gateway"
	engineArm  = "engine" // the gateway's, without admission
	tunedArm   = "tuned"  // httputil.ReverseProxy
	caddyArm   = "caddy"
	shedArm    = "gateway, shed"
	refuseArm  = "net/http 503"
)

// arm is something that is measured: a process, a path, what it must answer.
type arm struct {
	name    string
	process *child.Process
	path    string
	refuses bool
}

// run measures the arm for so long. An answer that is not of the arm's kind is
// an error: the figure would be of something else.
func (a arm) run(length time.Duration) (figure, error) {
	before, err := a.process.CPU()
	if err != nil {
		return figure{}, err
	}
	r, err := wrk.Run("http://"+a.process.Addr+a.path, connections, length)
	if err != nil {
		return figure{}, err
	}
	after, err := a.process.CPU()
	if err != nil {
		return figure{}, fmt.Errorf("%s died: %w", a.name, err)
	}
	switch {
	case r.Requests == 0 || r.Errors > 0:
		return figure{}, fmt.Errorf("%s: %d requests, %d socket errors", a.name, r.Requests, r.Errors)
	case a.refuses && r.Refused != r.Requests:
		return figure{}, fmt.Errorf("%s let %d of %d requests through", a.name, r.Requests-r.Refused, r.Requests)
	case !a.refuses && r.Refused > 0:
		return figure{}, fmt.Errorf("%s refused %d of %d requests", a.name, r.Refused, r.Requests)
	}
	return figure{r, float64((after - before).Microseconds()) / float64(r.Requests)}, nil
}

// start builds and starts everything. stop ends what was started, also after an
// error.
func start() (arms []arm, stop func(), err error) {
	var stops []func()
	stop = func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
	}
	dir, err := os.MkdirTemp("", "spillway-bench-")
	if err != nil {
		return nil, stop, err
	}
	stops = append(stops, func() { os.RemoveAll(dir) })
	built := map[string]string{}
	for _, command := range []string{"cmd/peer", "cmd/gateway", "cmd/caddy"} {
		fmt.Fprintf(os.Stderr, "building %s\n", command)
		if built[command], err = child.Build(dir, command); err != nil {
			return nil, stop, err
		}
	}
	launch := func(name, command string, args ...string) (p *child.Process) {
		if err != nil {
			return nil
		}
		if p, err = child.Start(name, nil, built[command], args...); err == nil {
			stops = append(stops, p.Stop)
		}
		return p
	}
	upstream := launch("upstream", "cmd/peer", "upstream")
	if err != nil {
		return nil, stop, err
	}
	url := "http://" + upstream.Addr
	file := filepath.Join(dir, "spillway.yaml")
	if err = os.WriteFile(file, fmt.Appendf(nil, configuration, url), 0o600); err != nil {
		return nil, stop, err
	}
	gateway := launch("gateway", "cmd/gateway", "-c", file)
	engine := launch("engine", "cmd/peer", "proxy", "-upstream", url, "-as", "gateway")
	tuned := launch("tuned", "cmd/peer", "proxy", "-upstream", url)
	refuse := launch("refuse", "cmd/peer", "refuse")
	if err != nil {
		return nil, stop, err
	}
	caddy, err := startCaddy(dir, built["cmd/caddy"], upstream.Addr)
	if err != nil {
		return nil, stop, err
	}
	stops = append(stops, caddy.Stop)
	thaw, err := freeze("http://" + gateway.Addr)
	stops = append(stops, thaw)
	return []arm{
		{gatewayArm, gateway, "/", false},
		{engineArm, engine, "/", false},
		{caddyArm, caddy, "/", false},
		{tunedArm, tuned, "/", false},
		{shedArm, gateway, "/frozen/", true},
		{refuseArm, refuse, "/", true},
	}, stop, err
}

// configuration has one class that finds a slot always, with a tenant, a budget
// and a deadline to be looked after, and one whose only slot and only place to
// wait (more does not fit into its budget) are held for as long as the run takes.
const configuration = `version: 1
upstreams:
  app: { url: %q }
classes:
  frozen:
    match: { path: "/frozen/*" }
    slots: 1
    budget: { latency: 101ms, service: 100ms }
    order: fifo
    deadline: 23h
    max_deadline: 24h
    abandoned: { hold_at_most: 24h }
  open:
    match: { path: "/*" }
    slots: 256
    budget: { latency: 300ms, service: 100ms }
    deadline: 1s
    tenant: { key: "header:X-Tenant", policy: wrr }
`

const caddyfile = `{
	admin off
	auto_https off
	persist_config off
	log {
		output discard
	}
}
http://%s {
	reverse_proxy %s {
		transport http {
			keepalive_idle_conns_per_host 1024
			compression off
		}
	}
}
`

func startCaddy(dir, binary, upstream string) (*child.Process, error) {
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, fmt.Appendf(nil, caddyfile, addr, upstream), 0o600); err != nil {
		return nil, err
	}
	return child.StartAt("caddy", addr, binary, "run", "--config", file, "--adapter", "caddyfile")
}

// freeze takes the only slot and the only place to wait of the class frozen for
// good, and returns once another request is refused for want of them.
func freeze(gateway string) (thaw func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var gone sync.WaitGroup
	thaw = func() { cancel(); gone.Wait() }
	for range 100 {
		// One more holds the slot, or waits, or is refused: then it is full.
		refused := make(chan bool, 1)
		gone.Go(func() { refused <- hold(ctx, gateway+"/frozen/freeze") })
		select {
		case full := <-refused:
			if full {
				return thaw, nil
			}
		case <-time.After(300 * time.Millisecond):
		}
	}
	return thaw, fmt.Errorf("the gateway's class frozen refuses nobody")
}

// hold sends a request that is not answered unless it is refused, and reports
// whether the class was full.
func hold(ctx context.Context, url string) (full bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Spillway-Reason") == "queue_full"
}
