package engine

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Tuned is what a careful user of net/http writes: enough idle connections,
// pooled buffers, no compression.
func Tuned(to *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:    func(pr *httputil.ProxyRequest) { pr.SetURL(to) },
		BufferPool: new(buffers),
		ErrorLog:   log.New(io.Discard, "", 0),
		Transport: &http.Transport{
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		},
	}
}

// Gateway has the settings of gateway/upstream.go and the headers that the
// gateway adds for the upstream; what is missing is admission.
func Gateway(to *url.URL) *httputil.ReverseProxy {
	dial := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	return &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(to)
			pr.Out.Host = pr.In.Host
			pr.SetXForwarded()
		},
		BufferPool: new(buffers),
		ErrorLog:   log.New(io.Discard, "", 0),
		Transport: &http.Transport{
			DialContext:            dial.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			DisableCompression:     true,
			MaxIdleConns:           4096,
			MaxIdleConnsPerHost:    4096,
			IdleConnTimeout:        90 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			ReadBufferSize:         16 << 10,
			WriteBufferSize:        16 << 10,
			Protocols:              http1,
		},
	}
}

// buffers lends buffers of the size that httputil.ReverseProxy would make.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return *v
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }
