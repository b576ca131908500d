package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// BenchmarkProxied and its two twins are what a request costs: through the
// gateway, and through the same engine without a gate. Their difference is what
// admission costs. Client and service run in the same process and are part of
// both.
func BenchmarkProxied(b *testing.B) {
	service := serviceAt(b, small)
	b.Run("gateway", func(b *testing.B) {
		h := startAt(b, service, "  all: { slots: 1000 }")
		b.ResetTimer()
		drive(b, h.url, 200)
		b.StopTimer()
		h.stop()
	})
	b.Run("bare", func(b *testing.B) {
		target, _ := url.Parse(service)
		proxy := &httputil.ReverseProxy{
			Rewrite: func(pr *httputil.ProxyRequest) {
				pr.SetURL(target)
				pr.Out.Host = pr.In.Host
				pr.SetXForwarded()
			},
			Transport: &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096, DisableCompression: true},
		}
		s := &http.Server{Handler: proxy}
		l := listen(b)
		go s.Serve(l)
		defer s.Close()
		drive(b, "http://"+l.Addr().String(), 200)
	})
}

// BenchmarkShed is a refusal at admission.
func BenchmarkShed(b *testing.B) {
	block := newBlocker()
	h := start(b, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }", block.ServeHTTP)
	first := make(chan got, 1)
	go func() { first <- h.get("/") }()
	<-block.began
	b.ResetTimer()
	drive(b, h.url, 503)
	b.StopTimer()
	block.let <- struct{}{}
	<-first
	h.stop()
}

func small(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Length"] = []string{"256"}
	io.WriteString(w, strings.Repeat("x", 256))
}

// drive sends requests over keep-alive connections, sixteen at once on two
// cores, and reads their answers.
func drive(b *testing.B, base string, status int) {
	b.ReportAllocs()
	u, _ := url.Parse(base)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		for pb.Next() {
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\n\r\n"); err != nil {
				b.Error(err)
				return
			}
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode != status {
				b.Error(res, err)
				return
			}
			io.Copy(io.Discard, res.Body)
		}
	})
}
