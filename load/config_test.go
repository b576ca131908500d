package load_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/load"
)

func TestNobodyThere(t *testing.T) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	l.Close()
	for _, protocol := range []load.Protocol{load.HTTP1, load.HTTP2} {
		source, names := schedule("1", time.Second)
		_, err := load.Run(t.Context(), load.Config{URL: "http://" + l.Addr().String(), Source: source, Names: names, Protocol: protocol})
		if err == nil || !strings.Contains(err.Error(), "connect to "+l.Addr().String()) {
			t.Errorf("%v", err)
		}
	}
}

func TestProgressAndLagBound(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	source, names := schedule("200", 100*time.Millisecond)
	var last load.Progress
	r, _ := run(t, load.Config{URL: target.URL, Source: source, Names: names, LagBound: 1, Progress: func(p load.Progress) { last = p }})
	if last.Offered != 20 || last.Answered != 20 || last.InFlight != 0 || last.Scheduled != 95*time.Millisecond {
		t.Errorf("%+v", last)
	}
	if !r.LagExceeded || r.Late != 20 { // nobody sends within a nanosecond
		t.Errorf("%+v", r.Figures)
	}
}

func TestConfigRefusesNonsense(t *testing.T) {
	source, names := schedule("1", time.Second)
	good := load.Config{URL: "http://h/", Source: source, Names: names}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*load.Config){
		"must start with http":   func(c *load.Config) { c.URL = "ftp://x" },
		"is no host":             func(c *load.Config) { c.URL = "http://:80/" },
		"needs a Source":         func(c *load.Config) { c.Source = nil },
		"must be more than 0s":   func(c *load.Config) { c.Timeout = -1 },
		"in flight":              func(c *load.Config) { c.MaxInFlight = -1 },
		"warm":                   func(c *load.Config) { c.Warm = -1 },
		"attempts":               func(c *load.Config) { c.MaxAttempts = 101 },
		"capital letters":        func(c *load.Config) { c.Method = "get /" },
		"protocol":               func(c *load.Config) { c.Protocol = 9 },
		"write Name: value":      func(c *load.Config) { c.Header = []string{"no header"} },
		"is the generator's own": func(c *load.Config) { c.Header = []string{"content-length: 3"} },
		"it can use .N":          func(c *load.Config) { c.Body = "{{.Nonsense}}" },
		"unclosed action":        func(c *load.Config) { c.URL = "http://h/{{.N" },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want it to say %q", err, says)
		}
	}
	if _, err := load.ParseProtocol("http3"); err == nil {
		t.Error("http3 was accepted")
	}
}
