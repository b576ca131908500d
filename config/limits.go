package config

import "cmp"

// Limits is what one caller, or one connection, may cost that does nothing useful.
// Requests themselves are limited by deadlines, rooms and slots.
type Limits struct {
	Header                Bytes       `yaml:"header" default:"64KiB" min:"1KiB" max:"1MiB" doc:"Bytes of a request's first line and header together; more is answered 431."`
	HeaderCount           int         `yaml:"header_count" default:"100" min:"8" max:"10000" doc:"Header fields of a request; more is answered 431."`
	ReadHeader            Duration    `yaml:"read_header" default:"10s" min:"10ms" max:"5m" doc:"How long a request's header may take to arrive, from its first byte, or from the connection's beginning (slowloris)."`
	Body                  Bytes       `yaml:"body" default:"1GiB" min:"1B" doc:"Bytes of a request's body; more is answered 413 (too_large). gRPC streams have no end to measure and are exempt."`
	BodyGrace             Duration    `yaml:"body_grace" default:"10s" min:"10ms" max:"1h" doc:"How long a caller may keep the gateway waiting for its body besides what body_rate allows. gRPC streams are exempt."`
	BodyRate              Bytes       `yaml:"body_rate" default:"500B" min:"1B" doc:"Bytes a second at which a body must arrive while the gateway waits for it."`
	Idle                  Duration    `yaml:"idle" default:"2m" min:"100ms" max:"1h" doc:"How long a connection may be open between two requests."`
	WriteStall            Duration    `yaml:"write_stall" default:"30s" min:"100ms" max:"1h" doc:"How long 16 KiB of an answer may take to be accepted by the caller's side (slow read); then the connection is cut."`
	Connections           int         `yaml:"connections" default:"10000" min:"1" max:"1000000" doc:"Connections of callers at once, on all listeners; one more is closed as it comes."`
	ConnectionsPerAddress int         `yaml:"connections_per_address" min:"1" max:"1000000" doc:"The same of one address (IPv6: of one /64). Default: half of connections. Behind a balancer without PROXY protocol all callers have its address; on the open Internet write 100 or so."`
	Streams               int         `yaml:"streams" default:"250" min:"1" max:"10000" doc:"HTTP/2 requests at once on one connection."`
	Resets                int         `yaml:"resets" default:"100" min:"1" max:"1000000" doc:"HTTP/2 requests that a connection may break off within ten seconds before it is cut (rapid reset, CVE-2023-44487). One that breaks off no more than a tenth of its requests is never cut."`
	RequestsPerConnection int         `yaml:"requests_per_connection" min:"1" max:"1000000000" doc:"After how many requests a connection is ended in good order (Connection: close, GOAWAY), so that callers spread anew. Default: never."`
	Underscores           Underscores `yaml:"underscores" default:"drop" doc:"What becomes of header fields with _ in their names, which CGI, WSGI and their kin cannot tell from the same with -."`
}

// Underscores is what becomes of header fields with _ in their names.
type Underscores string

// The ways to treat them; UnderscoresDrop is the default, as it is nginx's.
const (
	UnderscoresDrop Underscores = "drop"
	UnderscoresPass Underscores = "pass"
)

func (Underscores) values() []string { return []string{"drop", "pass"} }

func (l *Limits) fill() {
	l.Header = cmp.Or(l.Header, 64<<10) // what a request may sensibly carry: cookies of browsers end at about 4 KiB each
	l.HeaderCount = cmp.Or(l.HeaderCount, 100)
	l.ReadHeader = cmp.Or(l.ReadHeader, Duration(10e9))
	l.Body = cmp.Or(l.Body, 1<<30)
	l.BodyGrace = cmp.Or(l.BodyGrace, Duration(10e9)) // with the rate: Apache's mod_reqtimeout
	l.BodyRate = cmp.Or(l.BodyRate, 500)
	l.Idle = cmp.Or(l.Idle, Duration(120e9))
	l.WriteStall = cmp.Or(l.WriteStall, Duration(30e9))
	l.Connections = cmp.Or(l.Connections, 10_000)
	l.ConnectionsPerAddress = cmp.Or(l.ConnectionsPerAddress, max(1, l.Connections/2))
	l.Streams = cmp.Or(l.Streams, 250)
	l.Resets = cmp.Or(l.Resets, 100)
	l.Underscores = cmp.Or(l.Underscores, UnderscoresDrop)
}

// limits checks what several keys say together.
func (k *checker) limits() {
	d := k.cfg.WithDefaults().Limits
	if d.ConnectionsPerAddress > d.Connections {
		k.report("limits.connections_per_address", "lower it, or raise connections", "is %d, above connections %d", d.ConnectionsPerAddress, d.Connections)
	}
}
