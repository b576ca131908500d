package decision

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	"k8s.io/apiserver/pkg/util/flowcontrol/request"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

const activeTenants = 1000

// tenantNames returns so many names, long enough to be real ones.
func tenantNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%07d", i)
	}
	return names
}

// noGauge counts nothing, so that Kubernetes' metrics are no part of its cost.
type noGauge struct{}

func (noGauge) Set(float64)            {}
func (noGauge) Inc()                   {}
func (noGauge) Dec()                   {}
func (noGauge) Add(float64)            {}
func (noGauge) SetToCurrentTime()      {}
func (noGauge) SetDenominator(float64) {}

// BenchmarkFairKubernetes is a request through the queue set of Kubernetes' API
// Priority and Fairness that finds a seat: 64 queues, hands of 6, 1,000 flows.
// Classification is not part of it.
func BenchmarkFairKubernetes(b *testing.B) {
	completer, err := queueset.NewQueueSetFactory(eventclock.Real{}).BeginConstruction(
		fairqueuing.QueuingConfig{Name: "bench", DesiredNumQueues: 64, QueueLengthLimit: 50, HandSize: 6},
		metrics.RatioedGaugePair{RequestsWaiting: noGauge{}, RequestsExecuting: noGauge{}}, noGauge{}, noGauge{})
	if err != nil {
		b.Fatal(err)
	}
	set := completer.Complete(fairqueuing.DispatchingConfig{ConcurrencyLimit: slots, ConcurrencyDenominator: slots})
	ctx, names := context.Background(), tenantNames(activeTenants)
	seat := &request.WorkEstimate{InitialSeats: 1}
	note := func(bool) {}
	served := 0
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) % activeTenants
		req, _ := set.StartRequest(ctx, seat, uint64(i)*0x9e3779b97f4a7c15, names[i], "bench", nil, nil, note)
		if req == nil {
			b.Fatal("refused")
		}
		req.Finish(func() { served++ })
	}
	if served != b.N {
		b.Fatalf("%d of %d served", served, b.N)
	}
}

// fairMachine is a class that serves its tenants by weight.
func fairMachine(b *testing.B, slots int) *boundary.Machine {
	b.Helper()
	m, err := boundary.New(boundary.Config{Name: "app", Classes: []boundary.Class{{
		Name: "checkout",
		Pool: pool.Config{Slots: slots, Latency: time.Hour, Service: time.Millisecond, Bound: 4 * activeTenants,
			MemoryLimit: 1 << 30, PerRequest: 64 << 10, Order: pool.FIFO, Tenants: pool.TenantConfig{Policy: fair.WRR}},
		Deadline: time.Hour, DeadlineMax: time.Hour,
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkFairFree is a request through the whole machine that finds a slot,
// of one of 1,000 tenants in turn.
func BenchmarkFairFree(b *testing.B) {
	m, names := fairMachine(b, slots), tenantNames(activeTenants)
	var out boundary.Effects
	now, i := unit.Instant(0), 0
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		i = (i + 1) % activeTenants
		v := m.Offer(now, &boundary.Request{Tenant: names[i]}, &out)
		if v.Kind != boundary.Run {
			b.Fatal(v)
		}
		m.Done(now+100, v.Ticket, boundary.Outcome{Reason: reason.Served}, &out)
	}
}

// BenchmarkFairQueued is more than the queue set is asked for: every request
// waits behind those of all other tenants and is picked by weight. 1,000
// tenants wait all the time.
func BenchmarkFairQueued(b *testing.B) {
	m, names := fairMachine(b, 1), tenantNames(activeTenants)
	var out boundary.Effects
	running := m.Offer(0, &boundary.Request{Tenant: names[0]}, &out).Ticket
	for _, name := range names {
		if v := m.Offer(0, &boundary.Request{Tenant: name}, &out); v.Kind != boundary.Wait {
			b.Fatal(v)
		}
	}
	now, i := unit.Instant(0), 0
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		i = (i + 1) % activeTenants
		out.Reset()
		m.Done(now, running, boundary.Outcome{Reason: reason.Served}, &out)
		if len(out.List) != 1 || out.List[0].Kind != boundary.Run {
			b.Fatal(out.List)
		}
		running = out.List[0].Ticket
		if v := m.Offer(now, &boundary.Request{Tenant: names[i]}, &out); v.Kind != boundary.Wait {
			b.Fatal(v)
		}
	}
}
