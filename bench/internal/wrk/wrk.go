package wrk

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Result is what one run of wrk reports.
type Result struct {
	Requests  int64
	Refused   int64 // answers that were neither 2xx nor 3xx
	Errors    int64 // connect, read, write, timeout
	PerSecond float64
	P50, P99  time.Duration
}

// Run offers as much as connections can carry to the URL for so long, from one
// thread over kept-alive connections.
func Run(url string, connections int, length time.Duration) (Result, error) {
	seconds := max(1, int(length.Round(time.Second)/time.Second))
	out, err := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(connections), fmt.Sprintf("-d%ds", seconds), "--latency", url).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return Result{}, errors.New("wrk is not installed: apt-get install -y wrk")
	}
	if err != nil {
		return Result{}, fmt.Errorf("wrk %s: %w\n%s", url, err, out)
	}
	return parse(string(out))
}

func parse(out string) (r Result, err error) {
	var seen int
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "50%":
			r.P50, err = time.ParseDuration(f[1])
			seen++
		case len(f) == 2 && f[0] == "99%":
			r.P99, err = time.ParseDuration(f[1])
			seen++
		case len(f) == 2 && f[0] == "Requests/sec:":
			r.PerSecond, err = strconv.ParseFloat(f[1], 64)
			seen++
		case len(f) > 3 && f[1] == "requests" && f[2] == "in":
			r.Requests, err = strconv.ParseInt(f[0], 10, 64)
			seen++
		case strings.HasPrefix(line, "  Non-2xx or 3xx responses:"):
			r.Refused, err = strconv.ParseInt(f[len(f)-1], 10, 64)
		case strings.HasPrefix(line, "  Socket errors:"):
			for _, part := range f {
				if n, e := strconv.ParseInt(strings.TrimSuffix(part, ","), 10, 64); e == nil {
					r.Errors += n
				}
			}
		}
		if err != nil {
			return r, fmt.Errorf("wrk said %q: %w", line, err)
		}
	}
	if seen != 4 {
		return r, fmt.Errorf("wrk's output is not as expected:\n%s", out)
	}
	return r, nil
}
