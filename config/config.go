package config

import (
	"path/filepath"
	"time"
)

// Config is the whole file, in the order one writes it.
type Config struct {
	Version   int        `yaml:"version" default:"1" min:"1" max:"1" doc:"The format's version; leads the file."`
	Listen    Listeners  `yaml:"listen" default:":8080" items:"100" doc:"Where callers connect: an address, or a list of addresses and listeners with keys of their own."`
	Admin     Admin      `yaml:"admin" default:"127.0.0.1:9900" doc:"Where dashboard, metrics, health and API are: an address, or keys; loopback unless said otherwise."`
	TLS       TLS        `yaml:"tls" doc:"Certificate of every listener that has none of its own; needed for HTTP/2 with browsers and most clients. Without it listen speaks plain HTTP/1.1 and h2c."`
	Limits    Limits     `yaml:"limits" doc:"What one caller or connection may cost that does nothing useful."`
	Log       Log        `yaml:"log" doc:"What is logged, to stderr."`
	Reload    Reload     `yaml:"reload" doc:"When a change of the file is taken over."`
	Ready     Ready      `yaml:"ready" doc:"When /readyz says no besides while it drains."`
	Pressure  Pressure   `yaml:"pressure" doc:"From where on every upstream's limit gives way because the gateway itself is short of memory, of a processor or of a place with Go's scheduler. What is not known says nothing."`
	Scale     Scale      `yaml:"scale" doc:"What autoscalers and load balancers are told of how much is offered."`
	Record    Record     `yaml:"record" doc:"A trace of the traffic, for sim, load and demo to replay."`
	Explain   Explain    `yaml:"explain" doc:"Why requests were refused, turned out or answered late, remembered for spillway explain: off, or keys."`
	Seed      int64      `yaml:"seed" default:"1" min:"1" doc:"Seed of every random choice: jitter, sampling, slices."`
	Upstreams []Upstream `yaml:"upstreams" items:"1000" required:"true" doc:"The services protected, by name."`
	Classes   []Class    `yaml:"classes" items:"1000" required:"true" doc:"Classes by name, in order: the first whose match fits takes the request. Each has a pool of its own."`
	Quotas    []Quota    `yaml:"quotas" items:"1000" doc:"What may be spent per time, by name."`
	Ledger    Ledger     `yaml:"ledger" doc:"Where reservations and jobs are kept."`
	Jobs      Jobs       `yaml:"jobs" doc:"Work that is accepted now and done when its turn comes; needs a ledger."`
	Trust     Trust      `yaml:"trust" doc:"How callers prove who they are, and who may claim what; the rest is lowered, not obeyed."`
	CORS      CORS       `yaml:"cors" doc:"What web pages of other origins may see of the gateway's own answers."`
	Clients   Clients    `yaml:"clients" doc:"What one client may ask of an upstream, before any class's room is looked at. Default: nobody is limited."`

	src *source
}

// Log says what is logged.
type Log struct {
	Format LogFormat `yaml:"format" default:"text" doc:"How a line looks."`
	Level  LogLevel  `yaml:"level" default:"info" doc:"The least severe line that is written. Refusals are logged sampled at info and in full at debug."`
}

// Service is a service time: one duration, or a mix of several.
type Service struct {
	Fixed Duration `yaml:"-"` // set when one duration was written
	Mix   []Share  `yaml:"mix" items:"100" required:"true" doc:"Pairs of share and duration; the shares sum to 1, as in [[0.99, 3ms], [0.01, 1.5s]]."`
}

// Share is one pair of a mix, written [0.99, 3ms].
type Share struct {
	Share float64  `yaml:"share" min:"0" max:"1" doc:"Part of all requests, 0 to 1."`
	Time  Duration `yaml:"time" doc:"How long they take."`
}

// IsZero reports whether nothing is said of the service time.
func (s Service) IsZero() bool { return s.Fixed == 0 && len(s.Mix) == 0 }

// Mean is the mean service time; 0 where nothing is said.
func (s Service) Mean() time.Duration {
	if len(s.Mix) == 0 {
		return s.Fixed.D()
	}
	sum := 0.0
	for _, m := range s.Mix {
		sum += m.Share * float64(m.Time)
	}
	return time.Duration(sum)
}

// maxFile bounds a configuration file. A class is a few hundred bytes: this is
// room for thousands, and nothing that is read by mistake fills the memory.
const maxFile = 1 << 20

// Load reads, parses and checks the file at path. The error is [Errors]; file:
// values are looked for beside the file.
func Load(path string) (*Config, error) {
	data, err := readBounded(path, maxFile)
	switch err {
	case nil:
		return Parse(path, []byte(data))
	case errTooLarge:
		return nil, Errors{tooLarge(path)}
	}
	return nil, Errors{{File: path, What: "cannot be read: " + err.Error(), Fix: "name an existing file with -c, or start without one: spillway serve --upstream URL"}}
}

func tooLarge(name string) *Error {
	return &Error{File: name, Line: 1, Column: 1, What: "file is larger than 1 MiB", Fix: "split it, or check that this is a Spillway configuration"}
}

// Parse parses and checks data; name is what messages call it and whose folder
// file: values are relative to. The error is [Errors], all problems together; on
// error there is no Config, never half of one.
func Parse(name string, data []byte) (*Config, error) {
	return parseIn(name, data, realWorld(filepath.Dir(name)))
}

func parseIn(name string, data []byte, w world) (*Config, error) {
	c, errs := decode(name, data, w)
	if c != nil {
		errs = append(errs, c.check(errs)...)
	}
	if len(errs) > 0 {
		sortErrors(errs)
		return nil, errs
	}
	return c, nil
}

// Validate checks a Config made or changed in Go by the rules of a file. The error is
// [Errors]. It changes nothing.
func (c *Config) Validate() error {
	if errs := c.check(nil); len(errs) > 0 {
		sortErrors(errs)
		return errs
	}
	return nil
}

// ForUpstream is the configuration of `serve --upstream URL`: one upstream "app",
// one class "all" that takes every request. slots 0 means the default.
func ForUpstream(url string, slots int) (*Config, error) {
	c := &Config{
		Version:   1,
		Upstreams: []Upstream{{Name: "app", URL: Literal(url)}},
		Classes:   []Class{{Name: "all", Match: Match{Path: Words{"/*"}}, Upstream: "app", Slots: Slots{Fixed: slots}}},
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}
