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
	for name, values := range in.Header { // order does not matter: it is that of lines of different names
		if wire.HopByHop(name) || ofForwarding(name) || name == "Content-Length" || x.class.passDeadline && deadline.Written(name) ||
			connection != nil && wire.Named(connection, name) {
			continue
		}
		for _, v := range values {
			b = wire.AppendField(b, name, v)
		}
	}
	if x.class.passDeadline {
		b = appendDeadline(b, in.Header, x.permit.Remaining(), x.named)
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
	if len(body) > 0 || in.Header["Content-Length"] != nil || sendsBody(in.Method) {
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
