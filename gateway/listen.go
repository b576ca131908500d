package gateway

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strconv"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway/edge"
)

// How unix sockets are made where the configuration does not say.
const (
	frontMode fs.FileMode = 0o660
	adminMode fs.FileMode = 0o600
)

// entrance is a listener as it was configured.
type entrance struct {
	net.Listener
	certs *edge.Certificates // nil: clear text
}

// secure returns what connections are accepted from.
func (e entrance) secure() net.Listener {
	if e.certs == nil {
		return e.Listener
	}
	return tls.NewListener(e.Listener, e.certs.Config())
}

// entrances are all listeners of a gateway.
type entrances struct {
	sockets *edge.Sockets
	fronts  []entrance
	admin   entrance
	agent   entrance // HAProxy's agent-check; without a listener: nobody asked for one
}

// listen opens all listeners or none.
func (g *Gateway) listen() (_ *entrances, err error) {
	e := new(entrances)
	if e.sockets, err = edge.Inherit(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	cfg := g.config()
	for _, l := range cfg.Listen {
		front, err := g.front(e.sockets, l)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		e.fronts = append(e.fronts, front)
		if g.opts.Listener != nil {
			break // it stands for all of them
		}
	}
	if e.admin, err = g.adminEntrance(e.sockets, cfg.Admin); err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	if a := cfg.Scale.Agent; !a.IsZero() {
		if e.agent, err = open(e.sockets, nil, a.Value(), frontMode, config.TLS{}, nil); err != nil {
			return nil, fmt.Errorf("scale.agent: %w", err)
		}
	}
	if names := e.sockets.Unused(); len(names) > 0 {
		g.log.Warn("sockets were passed that no listener of the configuration names, and were closed", "sockets", fmt.Sprint(names))
	}
	return e, nil
}

// front opens a listener of callers.
func (g *Gateway) front(sockets *edge.Sockets, l config.Listener) (entrance, error) {
	o := edge.Options{WriteStall: g.config().Limits.WriteStall.D()}
	for _, text := range l.ProxyProtocol {
		if text == "unix" {
			o.UnixProxy = true
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return entrance{}, fmt.Errorf("proxy_protocol: %q is no network; write it as in 10.0.0.0/8", text)
		}
		o.Proxies = append(o.Proxies, network)
	}
	e, err := open(sockets, g.opts.Listener, l.Address.Value(), mode(l.Mode, frontMode), l.TLS, nil)
	if err == nil {
		e.Listener = edge.Wrap(e.Listener, g.caps, o)
	}
	return e, err
}

// adminEntrance opens the operator's listener. It is not opened where other
// machines could reach it and nothing says whom it may let in.
func (g *Gateway) adminEntrance(sockets *edge.Sockets, a config.Admin) (entrance, error) {
	e, err := open(sockets, g.opts.AdminListener, a.Address.Value(), adminMode, a.TLS, []string{"http/1.1"})
	if err != nil || edge.Loopback(e.Addr()) || a.Guarded() {
		return e, err
	}
	if !a.Insecure.On() {
		e.Close()
		return e, fmt.Errorf("%s can be reached from other machines and asks for no login; use 127.0.0.1, add token: or tls: with client_ca:, or write insecure: on if only operators can reach it", e.Addr())
	}
	g.log.Warn("the admin listener has no login and is not on loopback: whoever reaches it sees tenants' names and traffic",
		"admin", e.Addr().String(), "fix", `admin: "127.0.0.1:9900"`)
	return e, nil
}

// open makes a listener, with its certificate. given replaces the address.
func open(sockets *edge.Sockets, given net.Listener, address string, mode fs.FileMode, t config.TLS, protocols []string) (e entrance, err error) {
	if !t.Cert.IsZero() {
		e.certs, err = edge.LoadCertificates(edge.Files{
			Cert: t.Cert.Value(), Key: t.Key.Value(), ClientCA: t.ClientCA.Value(),
			ClientOptional: t.ClientAuth == config.AuthRequest, Protocols: protocols,
		})
		if err != nil {
			return e, fmt.Errorf("tls: %w", err)
		}
	}
	if e.Listener = given; given != nil {
		return e, nil
	}
	a, err := edge.ParseAddress(address)
	if err != nil {
		return e, err
	}
	if e.Listener, err = sockets.Listen(a, mode); err != nil {
		return e, fmt.Errorf("%w; choose a free address in the configuration", err)
	}
	return e, nil
}

func mode(octal string, otherwise fs.FileMode) fs.FileMode {
	n, err := strconv.ParseUint(octal, 8, 16)
	if err != nil {
		return otherwise
	}
	return fs.FileMode(n)
}

// certificates are those of all listeners.
func (e *entrances) certificates() []*edge.Certificates {
	var all []*edge.Certificates
	for _, f := range append([]entrance{e.admin}, e.fronts...) {
		if f.certs != nil {
			all = append(all, f.certs)
		}
	}
	return all
}

// addresses are those on which callers are taken in, as they are written in a
// configuration.
func (e *entrances) addresses() []string {
	var all []string
	for _, f := range e.fronts {
		all = append(all, addressText(f.Addr()))
	}
	return all
}

func addressText(a net.Addr) string {
	if a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return a.String()
}

// all are the listeners that are open.
func (e *entrances) all() []net.Listener {
	var open []net.Listener
	for _, f := range append([]entrance{e.admin, e.agent}, e.fronts...) {
		if f.Listener != nil {
			open = append(open, f.Listener)
		}
	}
	return open
}

// leave closes the listeners, whose sockets go on in another process.
func (e *entrances) leave() {
	for _, l := range e.all() {
		edge.Leave(l)
	}
}

// close closes what is open.
func (e *entrances) close() {
	for _, l := range e.all() {
		l.Close()
	}
	e.sockets.Close()
}
