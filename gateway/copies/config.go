package copies

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
)

// Config is an upstream as its copies are reached.
type Config struct {
	// Name is the upstream's, for log lines and errors.
	Name string
	// URLs are where it is: http, https or h2c with a host, or unix with the path of
	// a socket. At least one.
	URLs []*url.URL
	// Weights are those of the URLs, in order, 0 to spread.WeightMax; one that is not
	// there is 1. Where each address of a name is a copy, it is each one's.
	Weights []int
	// Spread says how requests are spread over the copies.
	Spread spread.Config
	// Seed says with which copy the first round begins. Zero: with any.
	Seed uint64

	// All makes a copy of each address of a name; otherwise a name is one copy.
	All bool
	// ResolveEvery is how often names are looked up again. Zero: 30 s.
	ResolveEvery time.Duration
	// Resolver looks names up; nil: the system's.
	Resolver Resolver

	TLS    TLS
	Health Health

	// Logger is told when a copy goes and comes; nil: nobody.
	Logger *slog.Logger
}

// Resolver looks names up. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of a host; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// TLS is whom to believe and who to be with https, as paths of PEM files.
type TLS struct {
	// CA holds the authorities that sign the copies' certificates; empty: the system's.
	CA string
	// Cert and Key are shown to copies that ask for them; empty: none are.
	Cert, Key string
	// ServerName is asked for and must be the certificate's; empty: the URL's host.
	ServerName string
	// MinVersion is the oldest version spoken, as crypto/tls numbers them. Zero: TLS 1.2.
	MinVersion uint16
}

// Kind is what a check asks.
type Kind uint8

// The kinds of checks.
const (
	Unchecked Kind = iota
	HTTP           // GET of Path
	Connect        // that a connection can be made, with TLS where the URL says so
	GRPC           // grpc.health.v1.Health/Check of Service
)

// Health is the active checks. The zero value makes none.
type Health struct {
	Kind              Kind
	Path              string        // HTTP: below the URL's
	Status            int           // HTTP: the one that is right; 0: any of 200 to 299
	Service           string        // GRPC: empty is the server as a whole
	Interval, Timeout time.Duration // of checks; zero: 5 s and 1 s
}

// Bounds of the connections to a copy.
const (
	dialTimeout    = 5 * time.Second  // what provider SDKs allow a connection
	dialKeepAlive  = 15 * time.Second // finds out that a peer is gone
	idleTimeout    = 90 * time.Second // net/http's own default
	idleMost       = 4096             // kept open although nothing runs on them; the gate bounds those in use
	headerBytesMax = 1 << 20          // of an answer
	ioBuffer       = 16 << 10         // per direction and connection
	pingAfter      = 30 * time.Second // an HTTP/2 connection is asked whether it lives
	pingTimeout    = 15 * time.Second

	resolveEvery = 30 * time.Second // the usual lifetime of a record that is meant to change
	lookupTime   = 5 * time.Second
	addressesMax = 100 // of one name; more are not looked at

	checkEvery = 5 * time.Second
	checkTime  = time.Second
)
