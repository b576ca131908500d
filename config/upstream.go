package config

import "cmp"

// Upstream is a resource: a service, one copy or several.
type Upstream struct {
	Name            string      `yaml:"-"`
	URL             Text        `yaml:"url" doc:"Where it is: http://, https:// or h2c:// (HTTP/2 without TLS, for gRPC), host, optional port and path prefix; or unix:/path of a socket that speaks HTTP/1.1."`
	URLs            []Copy      `yaml:"urls" items:"100" doc:"Instead of url: the copies of it, all of one scheme, each a URL or keys as in { url: ..., weight: 2 }. A request goes to the one that is least loaded for its weight and not saturated."`
	Slots           int         `yaml:"slots" min:"1" max:"1000000" large:"10000" doc:"How many requests it can work on at once, all copies together; a copy counts as saturated at the part that falls to its weight. Known capacity, for plan, sim and the choice of a copy; classes are held to their own slots."`
	Service         Service     `yaml:"service" doc:"How long it works on one: a duration, or a mix of them. For plan and sim."`
	StopsAtDeadline Switch      `yaml:"stops_at_deadline" default:"off" doc:"Whether it reads the deadline that travels to it and stops working there. Then a call holds one of its slots no longer than the call may take. For plan and sim."`
	StopsAfter      Duration    `yaml:"stops_after" min:"1ms" max:"24h" doc:"When it gives a request up by itself, whoever still waits. For plan, which holds timeouts against it."`
	HonoursKeys     Switch      `yaml:"honours_keys" default:"off" doc:"Whether it does a request with an Idempotency-Key once, however often it comes. Then each request of a class with retries or a hedge has one, made where the caller sends none, and a POST that may have run is sent again; without it never."`
	Provider        Provider    `yaml:"provider" doc:"That it is a provider of models or the like: its language, which says what a call costs, and its key. See docs/providers.md."`
	Resolve         Resolve     `yaml:"resolve" doc:"How names in its URLs become addresses: one or all, or keys."`
	Connections     int         `yaml:"connections" min:"1" max:"1000000" doc:"The most connections to one copy; without HTTP/2 that is as many requests. A request beyond them goes to another copy, or is answered 502. Default: no cap; slots bound what runs."`
	TLS             UpstreamTLS `yaml:"tls" doc:"With https://: whom to believe and who to be. The files are read again when they change."`
	Health          Health      `yaml:"health" doc:"Checks of each copy, over connections of their own. Default: none; what becomes of calls is looked at all the same."`
	Eject           Eject       `yaml:"eject" doc:"When a copy is left out because of what became of its calls: off, or keys."`
}

// Resolve is how names in URLs become addresses.
type Resolve struct {
	Addresses Addresses `yaml:"addresses" default:"one" doc:"one: a name is one copy, at whichever of its addresses answers first; right behind a balancer. all: each of its addresses is a copy."`
	Every     Duration  `yaml:"every" default:"30s" min:"100ms" max:"24h" doc:"How often a name is looked up again. An address that is no longer there ends what it has and gets nothing new; when the lookup fails, what was known last stays."`
}

// Addresses is how many copies a name stands for.
type Addresses string

// The ways to read a name; AddressesOne is the default.
const (
	AddressesOne Addresses = "one"
	AddressesAll Addresses = "all"
)

func (Addresses) values() []string { return []string{"one", "all"} }

func (r *Resolve) parse(_, text string) error {
	switch a := Addresses(text); a {
	case AddressesOne, AddressesAll:
		r.Addresses = a
		return nil
	}
	return bad("write one, all, or keys as in { addresses: all, every: 10s }", "%s is neither one nor all", quote(text))
}

func (r Resolve) format() string  { return string(r.Addresses) }
func (r Resolve) hasScalar() bool { return r.Addresses != "" && r.Every == 0 }
func (Resolve) kind() string      { return "one, all" }
func (Resolve) schema() map[string]any {
	return map[string]any{"enum": []any{"one", "all"}}
}

// UpstreamTLS is whom the gateway believes and who it is to an upstream, in PEM files.
type UpstreamTLS struct {
	CA         Text       `yaml:"ca" doc:"Path of the certificates that sign the upstream's. Default: those of the system."`
	Cert       Text       `yaml:"cert" doc:"Path of the certificate that the gateway shows (mTLS), leaf first."`
	Key        Text       `yaml:"key" doc:"Path of its private key."`
	ServerName string     `yaml:"server_name" doc:"The name that is asked for (SNI) and that the upstream's certificate must bear. Default: the URL's host."`
	MinVersion TLSVersion `yaml:"min_version" default:"tls1.2" doc:"The oldest version of TLS that is spoken."`
}

// TLSVersion is a version of TLS.
type TLSVersion string

func (TLSVersion) values() []string { return []string{"tls1.2", "tls1.3"} }

// HealthKind is what a check asks.
type HealthKind string

// The kinds of checks; HealthHTTP is the default.
const (
	HealthHTTP    HealthKind = "http"    // GET of a path
	HealthConnect HealthKind = "connect" // that a connection can be made, TLS included
	HealthGRPC    HealthKind = "grpc"    // grpc.health.v1.Health/Check
)

func (HealthKind) values() []string { return []string{"http", "connect", "grpc"} }

// Health is the checks of an upstream's copies.
type Health struct {
	Kind      HealthKind `yaml:"kind" default:"http" doc:"What is asked: a path (http), that a connection can be made (connect), or grpc.health.v1.Health/Check (grpc)."`
	Path      string     `yaml:"path" doc:"With http: the path to GET, as in /healthz, below the URL's prefix."`
	Status    int        `yaml:"status" min:"100" max:"599" doc:"With http: the one status that is right. Default: any of 200 to 299."`
	Service   string     `yaml:"service" doc:"With grpc: the service asked about. Default: the server as a whole."`
	Interval  Duration   `yaml:"interval" default:"5s" min:"10ms" max:"1h" doc:"How often, give or take a fifth, so that gateways do not ask in step."`
	Timeout   Duration   `yaml:"timeout" default:"1s" min:"1ms" max:"5m" doc:"How long a check may take."`
	Healthy   int        `yaml:"healthy" default:"2" min:"1" max:"100" doc:"How many checks in a row must pass for a copy to be used again."`
	Unhealthy int        `yaml:"unhealthy" default:"3" min:"1" max:"100" doc:"How many in a row must fail for it to be left out. One that never passed is left out by the first."`
}

// Checked reports whether checks are asked for.
func (h Health) Checked() bool { return h != (Health{}) }

// Eject is when a copy is left out because of what became of its calls.
type Eject struct {
	Off      bool     `yaml:"-"`
	InARow   int      `yaml:"in_a_row" default:"5" min:"1" max:"10000" doc:"Calls that fail in a row."`
	Failures Percent  `yaml:"failures" default:"50%" min:"1%" doc:"Or: share of failed calls in the window, of at least 20."`
	Window   Duration `yaml:"window" default:"10s" min:"100ms" max:"1h" doc:"How far back the share looks."`
	For      Duration `yaml:"for" default:"10s" min:"10ms" max:"1h" doc:"How long a copy is out the first time; the n-th time in short order n times as long, up to ten. Then it starts slowly, and its first failure sends it out again."`
	AtMost   Percent  `yaml:"at_most" default:"50%" min:"1%" doc:"How many of the copies may be out at the same time, for whatever cause. When all are bad, all are used."`
}

func (e *Eject) parse(_, text string) error {
	e.Off = true
	return readOff(text, "write off, or keys as in { in_a_row: 5, for: 10s }")
}

func (e Eject) format() string       { return formatOff(e.Off) }
func (e Eject) hasScalar() bool      { return e.Off }
func (Eject) kind() string           { return "off" }
func (Eject) schema() map[string]any { return offSchema() }

// fill holds what was not written; the figures are policy/spread's, which says
// where they come from.
func (u *Upstream) fill() {
	u.StopsAtDeadline = cmp.Or(u.StopsAtDeadline, Off)
	u.HonoursKeys = cmp.Or(u.HonoursKeys, Off)
	for i := range u.URLs {
		if c := &u.URLs[i]; c.Weight == 1 {
			c.Weight = 0 // said or not, it is the same copy
		}
	}
	u.Provider.fill()
	u.Resolve.Addresses = cmp.Or(u.Resolve.Addresses, AddressesOne)
	u.Resolve.Every = cmp.Or(u.Resolve.Every, Duration(30e9)) // the usual lifetime of a record that is meant to change
	if u.TLS != (UpstreamTLS{}) {
		u.TLS.MinVersion = cmp.Or(u.TLS.MinVersion, "tls1.2")
	}
	if h := &u.Health; h.Checked() {
		h.Kind = cmp.Or(h.Kind, HealthHTTP)
		h.Interval = cmp.Or(h.Interval, Duration(5e9))
		h.Timeout = cmp.Or(h.Timeout, Duration(1e9))
		h.Healthy = cmp.Or(h.Healthy, 2)
		h.Unhealthy = cmp.Or(h.Unhealthy, 3)
	}
	if e := &u.Eject; !e.Off {
		e.InARow = cmp.Or(e.InARow, 5)
		e.Failures = cmp.Or(e.Failures, 50)
		e.Window = cmp.Or(e.Window, Duration(10e9))
		e.For = cmp.Or(e.For, Duration(10e9))
		e.AtMost = cmp.Or(e.AtMost, 50)
	}
}
