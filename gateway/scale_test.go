package gateway_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/gateway/steer"
)

// desired asks the admin listener what autoscalers are told of the test's upstream.
func (h *harness) desired() (r struct {
	Offered float64 `json:"offered_per_s"`
	Demand  float64 `json:"demand_slots"`
	Desired float64 `json:"desired_slots"`
	Ratio   float64 `json:"desired_ratio"`
	Outage  bool    `json:"outage"`
}) {
	h.Helper()
	var d struct {
		Resources map[string]json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal([]byte(h.adminGet("/scale").body), &d); err != nil {
		h.Fatal(err)
	}
	if err := json.Unmarshal(d.Resources["app"], &r); err != nil {
		h.Fatalf("app is not there: %v", err)
	}
	return r
}

// Who is refused is demand like anybody else; an upstream that fails is an outage.
func TestAutoscalersAreToldWhatIsOffered(t *testing.T) {
	hold := make(chan struct{})
	h := start(t, "  all: { slots: 1, memory: { limit: 64KiB }, deadline: 1m }\n", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hold":
			<-hold
		case "/fail":
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	for range 30 { // so that it is known how long they take
		want(t, h.get("/"), 200, "served", "primary")
	}
	done := make(chan struct{})
	go func() { h.get("/hold"); close(done) }()
	until(t, "the slot is taken", func() bool { return h.state("all").Used == 1 })
	h.desired()
	refused := 0
	for range 200 {
		got := h.send("GET", "/", nil, "X-Envoy-Expected-Rq-Timeout-Ms", "1")
		if got.StatusCode >= 500 {
			refused++
		}
	}
	until(t, "the refused are demand", func() bool { d := h.desired(); return d.Offered > 0 && d.Demand > 0 && d.Desired >= d.Demand })
	if refused < 150 {
		t.Errorf("only %d of 200 were refused", refused)
	}
	if metrics := h.adminGet("/metrics").body; !strings.Contains(metrics, `spillway_desired_slots{resource="app"} `) || !strings.Contains(metrics, `spillway_desired_measured{resource="app"} `) {
		t.Error("the metrics do not say it")
	}
	close(hold)
	<-done
	until(t, "an outage is seen", func() bool {
		h.get("/fail")
		return h.desired().Outage
	})
}

// Answers say how full the copy is where that is asked for, served and refused alike, and
// what an upstream says of itself is replaced.
func TestAnswersSayHowFullItIs(t *testing.T) {
	service := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(steer.LoadHeader, "TEXT cpu_utilization=0.9")
	}
	h := start(t, "scale: { orca: on }\n  all: { slots: 4 }\n", service)
	if got := h.get("/").Header.Values(steer.LoadHeader); len(got) != 1 || !strings.HasPrefix(got[0], "TEXT application_utilization=") {
		t.Errorf("%q", got)
	}
	h = start(t, "  all: { slots: 4 }\n", service)
	if got := h.get("/").Header.Values(steer.LoadHeader); len(got) != 1 || got[0] != "TEXT cpu_utilization=0.9" {
		t.Errorf("not asked for: %q", got)
	}
}

// HAProxy's agent-check has a listener of its own.
func TestTheAgentAnswers(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "agent")
	h := start(t, "scale: { agent: \"unix:"+socket+"\" }\n  all: { slots: 4 }\n", func(http.ResponseWriter, *http.Request) {})
	h.get("/")
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if text, err := io.ReadAll(c); err != nil || string(text) != "up ready 100%\n" {
		t.Errorf("%q, %v", text, err)
	}
	h.stop()
	if _, err := net.Dial("unix", socket); err == nil {
		t.Error("it is still there when the gateway has ended")
	}
}
