package load

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// Config says what to send where. URL, Source and Names are needed; the zero
// value of the rest means its default.
type Config struct {
	URL    string   // http or https; path and query are a template of Request
	Method string   // default GET, or POST where there is a body
	Header []string // "Name: value" lines; the values are templates of Request
	Body   string   // a template of Request; empty sends Arrival.Bytes filler bytes

	Source workload.Source // the schedule, read as it is walked
	Names  *workload.Names // that Source numbers its classes and tenants in

	Protocol Protocol      // default HTTP1
	TLS      *tls.Config   // for https; default verifies as Go does
	Timeout  time.Duration // how long a caller waits, from the scheduled arrival; default 30s
	Deadline time.Duration // within which an answer is goodput, where an arrival has none; default Timeout

	MaxInFlight int // requests on the way at once, each with a connection of its own in HTTP/1.1; beyond it they are unsent; default 4,096
	Warm        int // connections opened before the start and kept in reserve (HTTP/1.1), for 50 ms of a stalled target at 5,000/s; default 256

	HonourRetryAfter bool // send again after what a 429 or 503 asks for
	MaxAttempts      int  // in all, where HonourRetryAfter; default 3

	LagBound time.Duration // lag p99 above it makes the result doubtful; default 1ms up to 5,000 requests/s, 10ms above

	Collector *report.Collector // what the outcomes are counted in; default a new one
	Told      func(*Outcome)    // told of every request when it has ended, never twice at once; must be quick
	Keep      int               // bytes of each answer's body that Told sees; default none, at most 64 KiB
	Progress  func(Progress)    // called about every second and at the end, never twice at once; must be quick
}

// Protocol is how requests are carried.
type Protocol uint8

const (
	HTTP1 Protocol = iota // HTTP/1.1 with a connection per request on the way
	HTTP2                 // over TLS for https, in the clear with prior knowledge (h2c) for http
)

// ParseProtocol reads http1 or http2.
func ParseProtocol(text string) (Protocol, error) {
	switch text {
	case "http1":
		return HTTP1, nil
	case "http2":
		return HTTP2, nil
	}
	return 0, fmt.Errorf("protocol %q: write http1 or http2", text)
}

// withDefaults returns a copy with every default filled in.
func (c Config) withDefaults() Config {
	fill(&c.Timeout, 30*time.Second)
	fill(&c.Deadline, c.Timeout)
	fill(&c.MaxInFlight, 4096)
	fill(&c.Warm, 256)
	c.Warm = min(c.Warm, c.MaxInFlight)
	fill(&c.MaxAttempts, 3)
	if !c.HonourRetryAfter {
		c.MaxAttempts = 1
	}
	if c.Method == "" {
		c.Method = "GET"
		if c.Body != "" {
			c.Method = "POST"
		}
	}
	if c.Collector == nil {
		c.Collector = report.NewCollector(report.Options{})
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}

const maxKeep = 64 << 10 // a connection's each

func fill[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// Validate reports what is wrong with the configuration, in one line. It does
// not change it.
func (c Config) Validate() error {
	_, err := parseTarget(c.URL)
	switch {
	case err != nil:
		return err
	case c.Source == nil || c.Names == nil:
		return fmt.Errorf("BUG: load.Config needs a Source and its Names")
	case c.Timeout < 0 || c.Deadline < 0 || c.LagBound < 0:
		return fmt.Errorf("timeout, deadline and lag bound must be more than 0s")
	case c.MaxInFlight < 0 || c.MaxInFlight > 1<<20:
		return fmt.Errorf("%d requests in flight: must be from 1 to 1,048,576", c.MaxInFlight)
	case c.Warm < 0:
		return fmt.Errorf("%d warm connections: must be 0 or more", c.Warm)
	case c.Keep < 0 || c.Keep > maxKeep:
		return fmt.Errorf("%d bytes of each answer: must be from 0 to %d", c.Keep, maxKeep)
	case c.MaxAttempts < 0 || c.MaxAttempts > 100:
		return fmt.Errorf("%d attempts: must be from 1 to 100", c.MaxAttempts)
	case c.Method != "" && strings.Trim(c.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "":
		return fmt.Errorf("method %q: must be capital letters, like GET", c.Method)
	case c.Protocol > HTTP2:
		return fmt.Errorf("there is no protocol number %d", c.Protocol)
	}
	_, err = newTemplates(c)
	return err
}

// target is a URL cut at its authority: only what follows is a template.
type target struct {
	scheme, host string
	rest         string
}

func parseTarget(text string) (target, error) {
	scheme, after, cut := strings.Cut(text, "://")
	if !cut || scheme != "http" && scheme != "https" {
		return target{}, fmt.Errorf("URL %q: must start with http:// or https://", text)
	}
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	u, err := url.Parse(scheme + "://" + after[:end])
	if err != nil || u.Hostname() == "" || u.User != nil {
		return target{}, fmt.Errorf("URL %q: %q is no host, or host:port", text, after[:end])
	}
	rest, _, _ := strings.Cut(after[end:], "#")
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return target{scheme, u.Host, rest}, nil
}

// address is host:port.
func (t target) address() string {
	u := url.URL{Host: t.host}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[t.scheme]
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}
