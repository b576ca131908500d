package config

import (
	"encoding/hex"
	"math"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Listener is one place where callers are taken in. An address alone may be
// written as one word.
type Listener struct {
	Address       Text   `yaml:"address" required:"true" doc:"host:port, unix:/path/of/socket, or fd:NAME for a socket that systemd holds (FileDescriptorName=NAME)."`
	Mode          string `yaml:"mode" doc:"Who may connect to a unix socket, as its file mode in octal and in quotes. Default: \"0660\"."`
	ProxyProtocol Words  `yaml:"proxy_protocol" items:"1000" doc:"Networks (CIDR) whose connections begin with a PROXY protocol header, version 1 or 2, that names the real caller; for a unix socket write unix. A connection from there without one is closed, and from elsewhere none is believed."`
	TLS           TLS    `yaml:"tls" doc:"Certificate of this listener. Default: tls at the top of the file."`
}

// Listeners is one listener or a list of them.
type Listeners []Listener

// Listen is the configuration of one listener at an address.
func Listen(address string) Listeners { return Listeners{{Address: Literal(address)}} }

func (l *Listener) short() *Text { return &l.Address }

// Admin is the operator's listener. An address alone may be written as one word.
type Admin struct {
	Address    Text   `yaml:"address" default:"127.0.0.1:9900" doc:"host:port, unix:/path/of/socket (mode 0600) or fd:NAME. Beyond loopback it needs token, or tls with client_ca."`
	Token      Text   `yaml:"token" doc:"What an operator must send as Authorization: Bearer TOKEN: file:PATH or ${NAME} of a random one of at least 20 characters, or sha256:HEX, its SHA-256."`
	TLS        TLS    `yaml:"tls" doc:"Certificate of the admin listener, and with client_ca whom it lets in. Default: plain HTTP."`
	OpenHealth Switch `yaml:"open_health" default:"on" doc:"Whether /livez and /readyz answer without the token."`
	Hosts      Words  `yaml:"hosts" items:"100" doc:"Names under which it may be asked, besides addresses and localhost. Any other is refused, so that no web page can point a name of its own here (DNS rebinding)."`
	Insecure   Switch `yaml:"insecure" default:"off" doc:"on: listen beyond loopback without token or client certificate, for a network that only operators reach."`
}

// AdminAt is the configuration of an admin listener at an address.
func AdminAt(address string) Admin { return Admin{Address: Literal(address)} }

func (a *Admin) short() *Text { return &a.Address }

// Guarded reports whether the admin listener knows whom it lets in.
func (a Admin) Guarded() bool {
	return !a.Token.IsZero() || !a.TLS.ClientCA.IsZero() && a.TLS.ClientAuth != AuthRequest
}

// TLS is the certificate of a listener, in PEM files. They are read again when
// they change.
type TLS struct {
	Cert       Text       `yaml:"cert" required:"true" doc:"Path of the certificate chain, leaf first. A path beginning with file: is read for the path."`
	Key        Text       `yaml:"key" required:"true" doc:"Path of its private key."`
	ClientCA   Text       `yaml:"client_ca" doc:"Path of the certificates that sign callers' certificates (mTLS)."`
	ClientAuth ClientAuth `yaml:"client_auth" default:"require" doc:"With client_ca: whether every caller needs a certificate, or is asked for one that is then verified."`
}

func (t *TLS) fill() {
	if t.ClientAuth == "" && !t.ClientCA.IsZero() {
		t.ClientAuth = AuthRequire
	}
}

// ClientAuth is whether callers need a certificate.
type ClientAuth string

// The ways to ask for a certificate; AuthRequire is the default.
const (
	AuthRequire ClientAuth = "require"
	AuthRequest ClientAuth = "request"
)

func (ClientAuth) values() []string { return []string{"require", "request"} }

// shortened is a struct that may be written as one word, its most important field.
type shortened interface{ short() *Text }

// isShort reports whether t may be written as one Text.
func isShort(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[shortened]())
}

var listenersType = reflect.TypeFor[Listeners]()

// onlyShort reports whether nothing but the most important field is set.
func onlyShort(v reflect.Value) bool {
	rest := reflect.New(v.Type()).Elem()
	rest.Set(v)
	*rest.Addr().Interface().(shortened).short() = Text{}
	return rest.IsZero()
}

// shortOf is the most important field of v.
func shortOf(v reflect.Value) reflect.Value {
	copied := reflect.New(v.Type())
	copied.Elem().Set(v)
	return reflect.ValueOf(*copied.Interface().(shortened).short())
}

const addressForms = `write host:port, as in "127.0.0.1:8080" or ":8080" for every address, unix:/path, or fd:name`

func (k *checker) listeners() {
	seen := map[string]bool{}
	for i, l := range k.cfg.Listen {
		at := k.item("listen", i)
		k.address(l.Address, at)
		if p := l.Address.Value(); !l.Address.IsZero() && port(l.Address) != "0" {
			if seen[p] {
				k.report(at, "keep one", "is the same address as another listener's")
			}
			seen[p] = true
		}
		k.mode(l, at)
		for j, cidr := range l.ProxyProtocol {
			if _, err := netip.ParsePrefix(cidr); err != nil && cidr != "unix" {
				k.report(k.item(join(at, "proxy_protocol"), j), "write a network, as in 10.0.0.0/8 or 192.0.2.7/32, or unix", "is %s", quote(cidr))
			}
		}
		k.clientAuth(l.TLS, join(at, "tls"))
	}
	k.clientAuth(k.cfg.TLS, "tls")
	k.admin(k.cfg.Admin, seen)
}

func (k *checker) address(t Text, at string) {
	text := t.Value()
	path, unix := strings.CutPrefix(text, "unix:")
	name, fd := strings.CutPrefix(text, "fd:")
	_, port, err := net.SplitHostPort(text)
	n, perr := strconv.Atoi(port)
	switch {
	case t.IsZero():
	case unix && (!strings.HasPrefix(path, "/") || len(path) > maxSocketPath):
		k.report(at, "write unix:/path with a path of at most 100 bytes that begins with /", "is not the path of a socket")
	case fd && !isToken(name):
		k.report(at, "write fd:NAME, NAME as in FileDescriptorName= of the .socket unit", "names no socket")
	case !unix && !fd && (err != nil || perr != nil || n < 0 || n > math.MaxUint16 || !allDigits(port)):
		k.report(at, addressForms, "is not an address")
	}
}

// maxSocketPath is what every kernel takes for the name of a socket.
const maxSocketPath = 100

func (k *checker) mode(l Listener, at string) {
	if l.Mode == "" {
		return
	}
	n, err := strconv.ParseUint(l.Mode, 8, 16)
	switch {
	case err != nil || n > 0o777:
		k.report(join(at, "mode"), `write three octal digits in quotes, as in "0660"`, "is %s", quote(l.Mode))
	case !strings.HasPrefix(l.Address.Value(), "unix:"):
		k.report(join(at, "mode"), "remove it", "means something for unix sockets only")
	}
}

func (k *checker) clientAuth(t TLS, at string) {
	if t.ClientAuth != "" && t.ClientCA.IsZero() {
		k.report(join(at, "client_auth"), "add client_ca", "means nothing without client_ca")
	}
}

// minToken makes a token that nobody guesses: 20 random letters and digits are 119 bits.
const minToken = 20

func (k *checker) admin(a Admin, taken map[string]bool) {
	if !a.Address.IsZero() || k.written("admin") {
		k.address(a.Address, "admin")
	}
	if !a.Address.IsZero() && taken[a.Address.Value()] {
		k.report("admin", "give it another port", "is the same address as listen")
	}
	host, _, err := net.SplitHostPort(a.Address.Value())
	switch {
	case a.Address.IsZero() || err != nil || isLoopback(host) || a.Guarded() || a.Insecure.On() || k.doubtful("admin"):
	case strings.HasPrefix(a.Address.Value(), "unix:") || strings.HasPrefix(a.Address.Value(), "fd:"):
	default:
		k.report("admin", "use 127.0.0.1, add token: or tls: with client_ca:, or write insecure: on if only operators can reach it", "is open to other machines and asks for no login")
	}
	if t := a.Token.Value(); !a.Token.IsZero() {
		sum, hashed := strings.CutPrefix(t, "sha256:")
		raw, err := hex.DecodeString(sum)
		switch {
		case hashed && (err != nil || len(raw) != 32):
			k.report("admin.token", "write the 64 hexadecimal digits of printf %s TOKEN | sha256sum", "is not a SHA-256")
		case !hashed && len(t) < minToken:
			k.report("admin.token", "make a random one: openssl rand -hex 20", "is shorter than 20 characters")
		}
	}
	k.clientAuth(a.TLS, "admin.tls")
	for i, h := range a.Hosts {
		if h == "" || strings.ContainsAny(h, "*/:@ []") {
			k.report(k.item("admin.hosts", i), "write a name without port", "is %s", quote(h))
		}
	}
	k.distinct(a.Hosts, "admin.hosts")
}

// wiseAdmin warns of an admin listener that is safer than it looks, or less.
func (k *checker) wiseAdmin() {
	a := k.cfg.WithDefaults().Admin
	host, _, err := net.SplitHostPort(a.Address.Value())
	beyond := err == nil && !isLoopback(host)
	if beyond && a.Insecure.On() && !a.Guarded() {
		k.advise("admin", "use 127.0.0.1, or see that only operators can reach it", "is open to other machines and asks for no login")
	}
	if beyond && !a.Token.IsZero() && a.TLS.Cert.IsZero() {
		k.advise("admin.token", "add tls:", "goes over the network in clear text")
	}
	if raw := a.Token.raw; raw != "" && !slices.ContainsFunc([]string{"file:", "sha256:", "${"}, func(p string) bool { return strings.HasPrefix(raw, p) }) {
		k.advise("admin.token", "write file:PATH, ${NAME} or sha256:HEX", "stands in the file for whoever can read it")
	}
}

func port(t Text) string {
	_, p, _ := net.SplitHostPort(t.Value())
	return p
}
