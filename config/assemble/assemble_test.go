package assemble_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/policy/pool"
)

const file = `version: 1
seed: 7
upstreams:
  app: { url: "http://127.0.0.1:9001", slots: 48, service: 100ms }
  idle: { url: "http://127.0.0.1:9002" }
classes:
  checkout:
    match: { path: "/checkout/*" }
    upstream: app
    slots: 40
    borrow: 4
    budget: { latency: 300ms, service: 100ms }
    memory: { limit: 2MiB, per_request: 64KiB }
    order: fifo
    when_full: displace
    deadline: 300ms
    max_deadline: 1s
    feasible: off
    abandoned: { hold_at_most: 5s }
    streams: { most: 50, per_tenant: 10, after: 2s }
    importance: { key: "header:X-Importance", levels: [user, prefetch] }
    tenant: { key: "header:X-Tenant", policy: wrr, weights: { acme: 2 }, queue: 12 }
  analytics: { match: { path: "/*" }, upstream: app, slots: 8, when_full: drop }
`

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestEveryKeyOfAClassReachesItsMachine(t *testing.T) {
	all := assemble.Resources(parse(t, file))
	if len(all) != 1 || all[0].Machine.Name != "app" || len(all[0].Classes) != 2 {
		t.Fatalf("resources %+v; want app alone, since no class uses idle", all)
	}
	if all[0].Machine.Seed != 7 {
		t.Errorf("seed %d, want 7", all[0].Machine.Seed)
	}
	want := boundary.Class{
		Name: "checkout",
		Pool: pool.Config{
			Slots: 40, Borrow: 4,
			Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 2 << 20, PerRequest: 64 << 10,
			Order: pool.FIFO, WhenFull: pool.Displace, Levels: 2,
			Tenants: pool.TenantConfig{
				Policy: fair.WRR, Weights: map[string]int{"acme": 2}, Ranks: map[string]int{}, Queue: 12,
			},
		},
		Deadline: 300 * time.Millisecond, DeadlineMax: time.Second,
		AdmitHopeless: true, HoldAtMost: 5 * time.Second,
		Streams: boundary.Streams{Most: 50, PerTenant: 10, After: 2 * time.Second},
	}
	if got := all[0].Machine.Classes[0]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("checkout\n got %+v\nwant %+v", got, want)
	}
	if got := all[0].Machine.Classes[1].Pool.WhenFull; got != pool.Drop {
		t.Errorf("analytics when full: %v, want drop", got)
	}
	if _, err := boundary.New(all[0].Machine); err != nil {
		t.Errorf("a file that passed validation must make a machine: %v", err)
	}
}

// A class keeps something of every deadline back if it has something to give then,
// and keeps it back once: its calls keep none.
func TestWhatALadderKeepsBack(t *testing.T) {
	cfg := parse(t, `version: 1
upstreams: { app: { url: "http://127.0.0.1:9001" } }
classes:
  said:   { match: { path: /said }, call: { reserve: 5ms }, ladder: [ { cache: { ttl: 1m } } ] }
  silent: { match: { path: /silent }, ladder: [ { cache: { ttl: 1m } } ] }
  none:   { call: { reserve: 5ms } }
`)
	r := assemble.Resources(cfg)[0]
	for i, want := range []struct{ class, call time.Duration }{{5 * time.Millisecond, 0}, {2 * time.Millisecond, 0}, {0, 5 * time.Millisecond}} {
		if c := r.Machine.Classes[i]; c.Reserve != want.class || r.Calls[i].Reserve != want.call {
			t.Errorf("%s keeps back %v, its calls %v; want %+v", c.Name, c.Reserve, r.Calls[i].Reserve, want)
		}
	}
}

func TestWordsOfTheFileAreWordsOfThePolicy(t *testing.T) {
	for _, word := range []string{"fifo", "lifo", "adaptive"} {
		cfg := parse(t, "version: 1\nupstreams: {a: {url: 'http://h'}}\nclasses: {c: {order: "+word+"}}\n")
		if got := assemble.Resources(cfg)[0].Machine.Classes[0].Pool.Order.String(); got != word {
			t.Errorf("order %s became %s", word, got)
		}
	}
	for _, word := range []string{"reject", "drop", "drop_oldest", "displace", "{ block: 50ms }"} {
		cfg := parse(t, "version: 1\nupstreams: {a: {url: 'http://h'}}\nclasses: {c: {when_full: "+word+", importance: {key: \"header:X-I\", levels: [a, b]}}}\n")
		got := assemble.Resources(cfg)[0].Machine.Classes[0].Pool
		if word == "{ block: 50ms }" {
			if got.WhenFull != pool.Block || got.BlockFor != 50*time.Millisecond {
				t.Errorf("block became %v for %v", got.WhenFull, got.BlockFor)
			}
		} else if got.WhenFull.String() != word {
			t.Errorf("when_full %s became %s", word, got.WhenFull)
		}
	}
	for _, word := range []string{"fifo", "priority", "rr", "wrr", "drr"} {
		order := ""
		if word == "priority" {
			order = ", order: [a]"
		}
		cfg := parse(t, "version: 1\nupstreams: {a: {url: 'http://h'}}\nclasses: {c: {tenant: {key: client, policy: "+word+order+"}}}\n")
		if got := assemble.Resources(cfg)[0].Machine.Classes[0].Pool.Tenants.Policy.String(); got != word {
			t.Errorf("policy %s became %s", word, got)
		}
	}
}

// The plan and the machine must speak of the same bound, or the plan lies.
func TestPlanAndMachineDeriveTheSameBound(t *testing.T) {
	cfg := parse(t, file)
	p := plan.Make(assemble.Plan(cfg))
	m, err := boundary.New(assemble.Resources(cfg)[0].Machine)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Class(0)
	planned := p.Classes["checkout"]
	if planned.Bound != got.Bound || planned.BoundFrom.String() != got.BoundFrom {
		t.Errorf("planned %d (%v), the machine has %d (%s)", planned.Bound, planned.BoundFrom, got.Bound, got.BoundFrom)
	}
	if got.Bound != 32 || got.BoundFrom != "memory" {
		t.Errorf("bound %d from %s; 2 MiB hold 32 requests of 64 KiB", got.Bound, got.BoundFrom)
	}
}

// One class with a range makes the limit of its upstream one that adapts: what others
// have is theirs, whatever it is.
func TestARangeOfSlotsMakesTheLimitAdapt(t *testing.T) {
	all := assemble.Resources(parse(t, `version: 1
upstreams: { app: { url: "http://a" }, other: { url: "http://b" } }
classes:
  web:   { match: { path: "/web" }, upstream: app, slots: { min: 4, max: 400 } }
  jobs:  { match: { path: "/jobs" }, upstream: app, slots: 8 }
  rest:  { match: { path: "/*" }, upstream: other }
`))
	app, other := all[0].Machine, all[1].Machine
	if app.Limit.Law != limit.Knee || app.Limit.Start != 28 || other.Limit.Law != limit.Constant {
		t.Errorf("app %+v, other %+v", app.Limit, other.Limit)
	}
	if web, jobs := app.Classes[0], app.Classes[1]; web.Floor != 4 || web.Pool.Slots != 400 || jobs.Floor != 8 || jobs.Pool.Slots != 8 {
		t.Errorf("web from %d to %d, jobs from %d to %d", web.Floor, web.Pool.Slots, jobs.Floor, jobs.Pool.Slots)
	}
	m, err := boundary.New(app)
	if err != nil {
		t.Fatal(err)
	}
	if web, jobs := m.Class(0), m.Class(1); web.Slots != 20 || jobs.Slots != 8 || m.Limit().Limit != 28 {
		t.Errorf("web is guaranteed %d, jobs %d of %d", web.Slots, jobs.Slots, m.Limit().Limit)
	}
}
