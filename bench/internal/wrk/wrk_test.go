package wrk

import (
	"testing"
	"time"
)

const sample = `Running 1s test @ http://127.0.0.1:1/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.65ms  832.77us  12.73ms   77.31%
    Req/Sec    38.02k     2.85k   41.53k    80.00%
  Latency Distribution
     50%    1.58ms
     75%    2.05ms
     90%    2.60ms
     99%  842.00us
  37836 requests in 1.00s, 13.35MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 37830
Requests/sec:  37818.18
Transfer/sec:     13.34MB
`

func TestParse(t *testing.T) {
	got, err := parse(sample)
	want := Result{Requests: 37836, Refused: 37830, Errors: 10, PerSecond: 37818.18, P50: 1580 * time.Microsecond, P99: 842 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for _, bad := range []string{"", "unable to connect to 127.0.0.1:1 Connection refused\n", "Requests/sec: many\n"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("parse(%q) makes no complaint", bad)
		}
	}
}
