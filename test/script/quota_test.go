package script_test

import (
	"testing"

	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// quotaOf reads limits: UNIT:MOST/EVERY, a bucket that gains one every so often,
// concurrent:MOST, and tenant.UNIT for each tenant's own.
func quotaOf(text string) (q quota.Quota, err error) {
	q.Name = "provider"
	for _, word := range strings.Split(text, ",") {
		name, how, _ := strings.Cut(word, ":")
		most, every, _ := strings.Cut(how, "/")
		own := strings.HasPrefix(name, "tenant.")
		name = strings.TrimPrefix(name, "tenant.")
		l := quota.Limit{Unit: quota.Concurrent}
		for u := range quota.Unit(quota.Units) {
			if u.String() == name {
				l.Unit = u
			}
		}
		if l.Most, err = strconv.ParseInt(most, 10, 64); err != nil {
			return q, err
		}
		if l.Unit != quota.Concurrent {
			if l.Every, err = time.ParseDuration(every); err != nil {
				return q, err
			}
			l.Refill = 1
		}
		ref := quota.Ref{Name: name, Limit: l}
		if own {
			q.Tenant = append(q.Tenant, ref)
		} else {
			q.All = append(q.All, ref)
		}
	}
	return q, q.Validate()
}

// storeTakes is how long the store of both drivers takes for the n-th reservation: no
// two are answered at one instant.
func storeTakes(n uint64) time.Duration {
	return time.Millisecond + time.Duration(n)*41*time.Nanosecond
}

// book is a store for the live gate: the budgets in memory, every answer as late as
// in the simulator.
type book struct {
	mu      sync.Mutex
	began   time.Time
	budgets map[string]*quota.Budget
	open    map[string]*quota.Reservation
}

func newBook() *book {
	return &book{began: time.Now(), budgets: map[string]*quota.Budget{}, open: map[string]*quota.Reservation{}}
}

func (b *book) now() quota.Time {
	at := unit.Instant(time.Since(b.began))
	return quota.Time{Run: at, Wall: at}
}

// wait lets the time pass that an answer takes.
func (b *book) wait(r gate.Reservation) {
	_, number, _ := strings.Cut(r.ID, "-")
	<-time.After(storeTakes(must(strconv.ParseUint(number, 36, 64))))
}

func (b *book) with(r gate.Reservation, f func(now quota.Time, list []quota.Budget)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var refs []quota.Ref
	for i := range r.Quotas {
		refs = r.Quotas[i].Append(refs, r.Tenant, r.Ask.Model)
	}
	list := make([]quota.Budget, len(refs))
	for i, ref := range refs {
		if b.budgets[ref.Name] == nil {
			fresh := quota.NewBudget(ref.Limit, b.now())
			b.budgets[ref.Name] = &fresh
		}
		list[i] = *b.budgets[ref.Name]
	}
	f(b.now(), list)
	for i, ref := range refs {
		*b.budgets[ref.Name] = list[i]
	}
}

func (b *book) Reserve(_ context.Context, r gate.Reservation) (v quota.Verdict) {
	b.wait(r)
	b.with(r, func(now quota.Time, list []quota.Budget) {
		if v = quota.Decide(now, list, r.Ask.Amounts); v.OK() {
			b.open[r.ID] = &quota.Reservation{Taken: r.Ask.Amounts, At: now}
		}
	})
	return v
}

func (b *book) Start(_ context.Context, r gate.Reservation) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open[r.ID].Start(0)
}

func (b *book) Settle(_ context.Context, r gate.Reservation, used quota.Amounts) error {
	b.wait(r)
	return b.end(r, func(s *quota.Reservation, now quota.Time, list []quota.Budget) error {
		return s.Settle(0, now, list, used)
	})
}

func (b *book) Lose(ctx context.Context, r gate.Reservation, _ string) error {
	return b.Settle(ctx, r, r.Ask.Amounts) // the model's upstreams know every end
}

func (b *book) Release(_ context.Context, r gate.Reservation, _ string) error {
	b.wait(r)
	return b.end(r, func(s *quota.Reservation, now quota.Time, list []quota.Budget) error { return s.Release(0, now, list) })
}

func (b *book) end(r gate.Reservation, f func(*quota.Reservation, quota.Time, []quota.Budget) error) (err error) {
	b.with(r, func(now quota.Time, list []quota.Budget) {
		if s := b.open[r.ID]; s != nil {
			err = f(s, now, list)
		} else {
			err = fmt.Errorf("%s ends, and nothing was reserved", r.ID)
		}
	})
	return err
}

// ask is what the request needs of a quota: its cost is in tokens.
func (r *request) ask() *quota.Ask {
	a := quota.One()
	a[quota.Tokens], a[quota.InputTokens] = max(r.cost, 1), max(r.cost, 1)
	return &quota.Ask{Amounts: a}
}

// Whatever is asked of them under quotas, both drivers do the same: of what the store
// is asked, when its answer finds nobody, and who waits for whom. Scripts in which two
// events share an instant are left out: live nobody says which comes first.
func TestAnyScriptUnderQuotasRunsTheSameLiveAndVirtual(t *testing.T) {
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScript(rt)
		text := rapid.SampledFrom([]string{"requests:2/7ms", "requests:1/3ms,concurrent:2", "concurrent:1", "tokens:5/2ms", "requests:3/1ms,tokens:9/5ms,concurrent:3"}).Draw(rt, "quota")
		if rapid.Bool().Draw(rt, "tenants too") {
			text += ",tenant.requests:1/8ms"
		}
		for i := range s.config.Classes {
			c := &s.config.Classes[i]
			c.Quotas = []quota.Quota{must(quotaOf(text))}
			if len(c.Quotas[0].Tenant) > 0 && c.Pool.Tenants.Policy == fair.Fifo {
				c.Pool.Tenants.Policy = fair.RR
			}
		}
		virtual := runVirtual(t, s)
		for i := 1; i < len(virtual); i++ {
			at, _, _ := strings.Cut(virtual[i], " ")
			if before, _, _ := strings.Cut(virtual[i-1], " "); at == before {
				return
			}
		}
		played++
		compare(rt, "live", runLive(t, s), "virtual", virtual)
	})
	if played < 20 {
		t.Errorf("only %d scripts were played", played)
	}
}
