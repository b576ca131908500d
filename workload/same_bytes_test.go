package workload_test

import (
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/internal/samebytes"
)

func TestNothingIsFused(t *testing.T) { samebytes.NothingIsFused(t) }

// The requests of a rich spec, as they have been drawn since this was written.
// Changing them changes what every seed means: say so in the change log.
func TestASeedMeansTheSameRequests(t *testing.T) {
	names, source := richSource(t)
	h := fnv.New64a()
	count := 0
	for _, a := range drain(t, source) {
		// What a request had from the first; what it has been given since is drawn apart.
		drawn := struct {
			N                     int64
			At, Service, Deadline time.Duration
			Cost, Bytes           int64
			Session               uint64
			Class, Tenant         workload.Name
			Importance            int32
		}{a.N, a.At, a.Service, a.Deadline, a.Cost, a.Bytes, a.Session, a.Class, a.Tenant, a.Importance}
		fmt.Fprintln(h, drawn, names.Classes.String(a.Class), names.Tenants.String(a.Tenant))
		count++
	}
	const want = "27644 requests, ae343cd307dcf79c"
	if got := fmt.Sprintf("%d requests, %x", count, h.Sum64()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
