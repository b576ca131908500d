package engine

import (
	"io"
	"log"
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

// buffers lends buffers of the size that httputil.ReverseProxy would make.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return *v
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }
