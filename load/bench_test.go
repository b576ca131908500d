package load_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/workload"
)

// targetEnv makes this test binary a small server instead.
const targetEnv = "SPILLWAY_LOAD_TARGET"

// beTarget serves until standard input closes, and prints its address first.
func beTarget() {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(l.Addr())
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	io.Copy(io.Discard, os.Stdin)
}

func startTarget(b *testing.B) (address string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), targetEnv+"=1", "GOMAXPROCS=1")
	in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	return strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n')))
}

// BenchmarkLag offers Poisson requests for 10 s to a net/http server in a
// process of its own, and reports by how much the generator missed its schedule.
func BenchmarkLag(b *testing.B) {
	for _, rate := range []string{"5000", "20000"} {
		b.Run(rate, func(b *testing.B) {
			address := startTarget(b)
			for b.Loop() {
				names := workload.NewNames()
				source := must(workload.Spec{Seed: 1, Rate: must(workload.ParseRate(rate)), For: 10 * time.Second, Tenants: must(workload.ParseMix("acme=8,beta=1"))}.Source(names))
				r, err := load.Run(b.Context(), load.Config{URL: "http://" + address + "/", Header: []string{"X-Tenant: {{.Tenant}}"}, Source: source, Names: names})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Lag.P50, "lag-p50-ms")
				b.ReportMetric(r.Lag.P99, "lag-p99-ms")
				b.ReportMetric(r.Lag.Max, "lag-max-ms")
				b.ReportMetric(float64(r.Unsent), "unsent")
				b.ReportMetric(float64(r.Attempts)/r.Elapsed.Seconds(), "sent/s")
				b.ReportMetric(float64(r.Dialled), "dialled")
			}
		})
	}
}
