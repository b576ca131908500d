package gateway

import (
	"cmp"
	"net"
	"strconv"

	"github.com/spillway-dev/spillway/gate/deadline"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// appendRequest appends the request as the upstream gets it.
func (x *exchange) appendRequest(b []byte, body []byte) []byte {
	in := x.in
	b = append(b, in.Method...)
	b = append(b, ' ')
	b = append(b, targetAt(x.copy.Load().Base(), in.URL)...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = wire.AppendField(b, "Host", cmp.Or(in.Host, x.copy.Load().Base().Host)) // HTTP/1.0 need not name one
	connection := in.Header["Connection"]
	sized, named := false, false          // there is a Content-Length, or a deadline
	for name, values := range in.Header { // order does not matter: it is that of lines of different names
		switch {
		case name == "Content-Length":
			sized = true
			continue
		case x.class.passDeadline && deadline.Written(name):
			named = true
			continue
		case wire.HopByHop(name) || ofForwarding(name) || connection != nil && wire.Named(connection, name):
			continue
		}
		for _, v := range values {
			b = wire.AppendField(b, name, v)
		}
	}
	if x.class.passDeadline {
		b = x.appendDeadline(b, named)
	}
	if client, _, err := net.SplitHostPort(in.RemoteAddr); err == nil {
		b = wire.AppendField(b, "X-Forwarded-For", client)
	}
	b = wire.AppendField(b, "X-Forwarded-Host", in.Host)
	proto := "http"
	if x.secure {
		proto = "https"
	}
	b = wire.AppendField(b, "X-Forwarded-Proto", proto)
	if len(body) > 0 || sized || sendsBody(in.Method) {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, '\r', '\n')
	}
	b = append(b, '\r', '\n')
	return append(b, body...)
}

// sendsBody lists the methods whose requests say of no body that it is none: there
// are servers that insist (411).
func sendsBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// ofForwarding lists what callers say of themselves and the gateway says anew.
func ofForwarding(name string) bool {
	switch name {
	case "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
		return true
	}
	return false
}
