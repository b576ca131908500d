package assemble_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/spread"
)

func TestEveryKeyOfAnUpstreamReachesItsCopies(t *testing.T) {
	cfg := parse(t, `version: 1
upstreams:
  app: { urls: ["http://h:1", "http://h:2"], slots: 16, connections: 9,
         health: { path: /healthz, healthy: 4, unhealthy: 5 },
         eject: { in_a_row: 3, failures: 30%, window: 5s, for: 2s, at_most: 34% } }
  off: { url: "http://h", eject: off }
  plain: { url: "http://h" }
classes: { all: { upstream: app } }
`).WithDefaults()
	for i, want := range []spread.Config{
		{Slots: 16, Connections: 9, InARow: 3, Share: 30, Window: 5 * time.Second, For: 2 * time.Second, AtMost: 34, Healthy: 4, Unhealthy: 5},
		{Keep: true},
		{ // the defaults of the file are those of the policy
			InARow: spread.InARowDefault, Share: spread.ShareDefault, Window: spread.WindowDefault,
			For: spread.ForDefault, AtMost: spread.AtMostDefault,
		},
	} {
		if got := assemble.Copies(cfg.Upstreams[i]); got != want {
			t.Errorf("%s\n got %+v\nwant %+v", cfg.Upstreams[i].Name, got, want)
		}
	}
}
