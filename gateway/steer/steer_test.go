package steer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gateway/steer"
	"github.com/spillway-dev/spillway/policy/scale"
	"github.com/spillway-dev/spillway/test/need"
)

// offering returns the facts of a resource of ten slots, each held for 100 ms, that is
// offered so much a second from now on.
func offering(perS float64) func() []steer.Resource {
	began := time.Now()
	return func() []steer.Resource {
		n := time.Since(began).Seconds()
		return []steer.Resource{{Name: "app", Facts: scale.Facts{
			Offered: int64(n * perS), Served: int64(n * min(perS, 100)), Holding: 100 * time.Millisecond, Slots: 10,
		}}}
	}
}

// after lets a board look for a while in virtual time and then asks it something.
func after(t *testing.T, facts func() func() []steer.Resource, ask func(*steer.Board)) {
	synctest.Test(t, func(t *testing.T) {
		b := steer.New(facts())
		ctx, stop := context.WithCancel(t.Context())
		go b.Run(ctx)
		time.Sleep(time.Minute)
		ask(b)
		stop()
		synctest.Wait()
	})
}

func crowded() func() []steer.Resource { return offering(300) }

func TestReport(t *testing.T) {
	after(t, crowded, func(b *steer.Board) {
		w := httptest.NewRecorder()
		b.Report(w, nil)
		want := `{"resources":{"app":{"offered_per_s":300,"demand_slots":30,"desired_slots":37.5,"desired_ratio":3.75,"measured":true,"outage":false,"weight_percent":33}}}`
		var got, wanted map[string]map[string]map[string]any
		if json.Unmarshal(w.Body.Bytes(), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatalf("%s", w.Body)
		}
		for key, v := range wanted["resources"]["app"] {
			if fmt.Sprint(rounded(got["resources"]["app"][key])) != fmt.Sprint(rounded(v)) {
				t.Errorf("%s is %v, want %v", key, got["resources"]["app"][key], v)
			}
		}
	})
}

func rounded(v any) any {
	if f, ok := v.(float64); ok {
		return float64(int64(f*100+0.5)) / 100
	}
	return v
}

// What Kubernetes asks, and what it is answered: the fields of
// k8s.io/metrics/pkg/apis/external_metrics/v1beta1, quantities in thousandths.
func TestExternalMetrics(t *testing.T) {
	after(t, crowded, func(b *steer.Board) {
		mux := http.NewServeMux()
		b.External(mux)
		for path, want := range map[string]string{
			"": `"groupVersion": "external.metrics.k8s.io/v1beta1"`,
			"/namespaces/shop/spillway_desired_slots?labelSelector=resource%3Dapp":    `"value": "37500m"`,
			"/namespaces/shop/spillway_desired_slots?labelSelector=resource%3D%3Dapp": `"metricName": "spillway_desired_slots"`,
			"/namespaces/shop/spillway_demand_slots":                                  `"value": "30000m"`,
			"/namespaces/shop/spillway_desired_ratio":                                 `"value": "3750m"`,
			"/namespaces/shop/spillway_desired_slots?labelSelector=resource%3Dother":  `"items": []`,
			"/namespaces/shop/spillway_desired_slots?labelSelector=a%3Db,c%3Dd":       `the only selector is resource=NAME`,
			"/namespaces/shop/spillway_profits":                                       `there are spillway_desired_slots`,
		} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("GET", steer.ExternalPath+path, nil))
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d %s; want %s", path, w.Code, w.Body, want)
			}
		}
	})
}

// The header is what Envoy and gRPC parse: TEXT, then key=value by commas.
func TestLoadHeader(t *testing.T) {
	if got := steer.New(crowded()).Load(); got != "TEXT application_utilization=0.0000,rps_fractional=0.0" {
		t.Errorf("before a look: %s", got)
	}
	after(t, crowded, func(b *steer.Board) {
		if got := b.Load(); got != "TEXT application_utilization=3.0000,rps_fractional=300.0" {
			t.Errorf("%s", got)
		}
	})
}

// Who is removed from the configuration is told of no more, and begins anew if it comes
// back.
func TestResourcesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone bool
		all := offering(300)
		b := steer.New(func() []steer.Resource {
			if gone {
				return nil
			}
			return all()
		})
		b.Look()
		time.Sleep(time.Minute)
		if told := b.Look(); len(told) != 1 || told[0].Demand < 29 {
			t.Errorf("%+v", told)
		}
		gone = true
		if told := b.Look(); len(told) != 0 {
			t.Errorf("%+v", told)
		}
		gone = false
		if told := b.Look(); len(told) != 1 || told[0].Demand != 0 {
			t.Errorf("%+v; want a figure that begins anew", told)
		}
	})
}

// A real HAProxy takes the weight over, drains a copy that says so, and takes it back.
func TestHAProxyFollowsTheAgent(t *testing.T) {
	haproxy := need.Command(t, "haproxy")
	b := steer.New(offering(300))
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { b.Run(ctx); close(ran) }()
	var draining atomic.Bool
	agent := &steer.Agent{Board: b, Draining: draining.Load}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- agent.Serve(l) }()
	dir := t.TempDir()
	socket := filepath.Join(dir, "stats")
	port := l.Addr().(*net.TCPAddr).Port
	config := fmt.Sprintf(`global
  stats socket %s level admin
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
backend app
  server copy 127.0.0.1:%d weight 100 agent-check agent-inter 100ms agent-addr 127.0.0.1 agent-port %d
`, socket, port, port)
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(ctx, haproxy, "-db", "-f", file)
	run.WaitDelay = time.Second
	var out strings.Builder
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, is func(weight, status string) bool) {
		t.Helper()
		var weight, status string
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-again.C {
			if weight, status = server(socket); is(weight, status) {
				return
			}
		}
		t.Errorf("%s: weight %q, status %q", what, weight, status)
	}
	until("three times what it can do: a third", func(weight, status string) bool {
		return weight == "33" || weight == "34" || weight == "32"
	})
	draining.Store(true)
	until("it drains", func(_, status string) bool { return strings.HasPrefix(status, "DRAIN") })
	draining.Store(false)
	until("it is back", func(weight, status string) bool { return weight == "33" && !strings.HasPrefix(status, "DRAIN") })
	stop()
	run.Wait()
	l.Close()
	<-served
	<-ran
	if t.Failed() {
		t.Log(out.String())
	}
}

// server returns the weight and status of the one server that HAProxy has.
func server(socket string) (weight, status string) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return "", err.Error()
	}
	defer c.Close()
	fmt.Fprintln(c, "show stat -1 4 -1")
	text, err := io.ReadAll(c)
	if err != nil {
		return "", err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	names := strings.Split(strings.TrimPrefix(lines[0], "# "), ",")
	values := strings.Split(lines[len(lines)-1], ",")
	for i, n := range names {
		switch {
		case i >= len(values):
		case n == "weight":
			weight = values[i]
		case n == "status":
			status = values[i]
		}
	}
	return weight, status
}
