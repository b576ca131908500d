//go:build unix

package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkAdmission is what a request costs in processor time: through the
// gateway, through the same engine without a gate, and refused. The three take
// turns, so that what else the machine does hits all alike; client and service
// run in the same process and are part of the first two. admission-us/op is the
// first less the second.
func BenchmarkAdmission(b *testing.B) {
	service := serviceAt(b, small)
	h := startAt(b, service, "  all: { slots: 1000 }")
	target, _ := url.Parse(service)
	bare := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 120 * time.Second, MaxHeaderBytes: 64 << 10, Handler: &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(target)
			pr.Out.Host = pr.In.Host
			pr.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096, DisableCompression: true, IdleConnTimeout: 90 * time.Second, ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10},
		BufferPool: pool{&sync.Pool{New: func() any { return make([]byte, 32<<10) }}},
	}}
	l := listen(b)
	go bare.Serve(l)
	defer bare.Close()
	block := newBlocker()
	shed := start(b, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }", block.ServeHTTP)
	first := make(chan got, 1)
	go func() { first <- shed.get("/") }()
	<-block.began

	arms := []struct {
		name   string
		url    string
		status int
		spent  []time.Duration
	}{{"proxied", h.url, 200, nil}, {"bare", "http://" + l.Addr().String(), 200, nil}, {"shed", shed.url, 503, nil}}
	const each = 2000
	b.ResetTimer()
	for round := range b.N {
		for i := range arms {
			a := &arms[(i+round)%len(arms)] // no arm always pays for another's garbage
			before := processorTime(b)
			drive(b, a.url, a.status, each)
			a.spent = append(a.spent, processorTime(b)-before)
		}
	}
	b.StopTimer()
	median := func(i int) float64 {
		slices.Sort(arms[i].spent)
		return float64(arms[i].spent[len(arms[i].spent)/2].Nanoseconds()) / each / 1e3
	}
	for i := range arms {
		b.ReportMetric(median(i), arms[i].name+"-us/op")
	}
	b.ReportMetric(median(0)-median(1), "admission-us/op")
	block.let <- struct{}{}
	<-first
}

type pool struct{ *sync.Pool }

func (p pool) Get() []byte { return p.Pool.Get().([]byte) }
func (p pool) Put(b []byte) {
	//lint:ignore SA6002 httputil.BufferPool hands over slices
	p.Pool.Put(b)
}

// processorTime is what this process has had of the processors.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Skip(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func small(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Length"] = []string{"256"}
	io.WriteString(w, strings.Repeat("x", 256))
}

// drive sends so many requests over eight keep-alive connections, and reads
// their answers.
func drive(b *testing.B, base string, status, requests int) {
	u, _ := url.Parse(base)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			c, err := net.Dial("tcp", u.Host)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			for range requests / 8 {
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
	wait.Wait()
}
