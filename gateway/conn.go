package gateway

import (
	"context"
	"net"
	"net/http"
)

type connKey struct{}

// withConn is the server's ConnContext: a request can be asked for its
// connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection that the request came on, below TLS, or nil
// behind a server that is not ours.
func connOf(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return below(c)
}

// below returns the connection that others are wrapped around.
func below(c net.Conn) net.Conn {
	for {
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = wrapped.NetConn()
	}
}
