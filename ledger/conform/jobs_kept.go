package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
)

// Of 600 jobs that have ended a sweep forgets the old, with their keys; what is unknown
// stays, and so does its key.
func jobsSwept(t *testing.T, fresh func(testing.TB) Place) {
	h := &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
	l := openAt(t, fresh(t), "one", h.now)
	var all sync.WaitGroup
	for i := range 600 {
		all.Go(func() {
			n := newJob(fmt.Sprint("old", i), fmt.Sprint("tenant", i%50))
			n.Key = n.ID
			_, err := l.Accept(ctx, n)
			_, err2 := l.StartJob(ctx, n.ID, 0)
			_, err3 := l.EndJob(ctx, n.ID, 1, answered("yes"))
			if err := errors.Join(err, err2, err3); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := newJob("unknown", "acme")
	n.Key = "unknown"
	accepted(t, l, n)
	_, err := l.StartJob(ctx, "unknown", 0)
	if _, err2 := l.EndJob(ctx, "unknown", 1, ending(call.Broken)); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	accepted(t, l, newJob("waiting", "acme"))
	h.step(48 * time.Hour)
	accepted(t, l, newJob("young", "acme"))
	if _, err := l.CancelJob(ctx, "young"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{600, 0} {
		if n, err := l.SweepJobs(ctx, 24*time.Hour); n != want || err != nil {
			t.Errorf("sweep %d: %d, want %d; %v", i, n, want, err)
		}
	}
	found, err := l.Audit(ctx)
	if err != nil || found.Jobs != 3 || found.UnknownJobs != 1 || len(found.Wrong) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := l.FindKey(ctx, "old1"); !errors.Is(err, ledger.ErrNoJob) {
		t.Errorf("its key is there: %v", err)
	}
	if _, there, err := l.MessageOf(ctx, "old1", ledger.Answer); there || err != nil {
		t.Errorf("its answer is there: %v, %v", there, err)
	}
	if j, err := l.FindKey(ctx, "unknown"); err != nil || j.State != job.Unknown {
		t.Errorf("%+v, %v", j, err)
	}
}

// A list is newest first, in pages that leave nothing out.
func jobLists(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	var all []string
	for i := range 60 {
		n := newJob(fmt.Sprintf("%03d", i), fmt.Sprint("t", i%3))
		n.Inline = i%10 == 9
		accepted(t, l, n)
		all = append(all, n.ID)
		if i%2 == 0 {
			if _, err := l.CancelJob(ctx, n.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Reverse(all)
	cancelled := job.Cancelled
	for _, c := range []struct {
		name   string
		filter ledger.Filter
		want   func(i int) bool
	}{
		{"jobs", ledger.Filter{}, func(i int) bool { return i%10 != 9 }},
		{"all", ledger.Filter{Inline: true}, func(int) bool { return true }},
		{"of a tenant", ledger.Filter{Tenant: "t1"}, func(i int) bool { return i%3 == 1 && i%10 != 9 }},
		{"in a state", ledger.Filter{State: &cancelled}, func(i int) bool { return i%2 == 0 }},
		{"of a tenant in a state", ledger.Filter{Tenant: "t2", State: &cancelled}, func(i int) bool { return i%3 == 2 && i%2 == 0 }},
		{"of no class", ledger.Filter{Class: "other"}, func(int) bool { return false }},
	} {
		var want, got []string
		for i := 59; i >= 0; i-- {
			if c.want(i) {
				want = append(want, fmt.Sprintf("%03d", i))
			}
		}
		for {
			page, more, err := l.Jobs(ctx, c.filter, 7)
			if err != nil || len(page) > 7 {
				t.Fatal(len(page), err)
			}
			got = append(got, ids(page)...)
			if more == "" {
				break
			}
			c.filter.After = more
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// Where the store fails nothing is accepted, and nobody is told that it was.
func jobsFailing(t *testing.T, fresh func(testing.TB) Place) {
	inner, err := fresh(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &failingStore{Store: inner}
	l, err := ledger.Open(ctx, s, "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAndAudit(t, l) })
	accepted(t, l, newJob("a", "acme"))
	for name, step := range map[string]func() error{
		"accept": func() error { _, err := l.Accept(ctx, newJob("b", "acme")); return err },
		"start":  func() error { _, err := l.StartJob(ctx, "a", 0); return err },
		"cancel": func() error { _, err := l.CancelJob(ctx, "a"); return err },
	} {
		for _, when := range [][2]bool{{true, false}, {false, true}} {
			s.set(when[0], when[1])
			if err := step(); !errors.Is(err, ledger.ErrUnavailable) {
				t.Errorf("%s: %v, want that it is not available", name, err)
			}
		}
	}
	s.set(false, false)
	if _, err := l.FindJob(ctx, "b"); !errors.Is(err, ledger.ErrNoJob) {
		t.Errorf("it was accepted by nobody and is there: %v", err)
	}
	if j, err := l.FindJob(ctx, "a"); err != nil || j.State != job.Waiting {
		t.Errorf("%+v, %v", j, err)
	}
}

func jobsNonsense(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	long := strings.Repeat("x", ledger.NameMax+1)
	for name, spoil := range map[string]func(*ledger.NewJob){
		"no id":                  func(n *ledger.NewJob) { n.ID = "" },
		"a long id":              func(n *ledger.NewJob) { n.ID = long },
		"a long tenant":          func(n *ledger.NewJob) { n.Tenant = long },
		"a long key":             func(n *ledger.NewJob) { n.Key = long },
		"a deadline in the past": func(n *ledger.NewJob) { n.Within = -1 },
	} {
		n := newJob("a", "acme")
		spoil(&n)
		if _, err := l.Accept(ctx, n); err == nil || errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
