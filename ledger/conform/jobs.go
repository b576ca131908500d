package conform

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

var jobRules = job.Rules{Attempts: 3, Backoff: call.Backoff{Base: time.Second, Jitter: call.NoJitter}}

func newJob(id, tenant string) ledger.NewJob {
	return ledger.NewJob{ID: id, Class: "mail", Tenant: tenant, Request: ledger.Message{Head: []byte("POST"), Body: []byte("hello")}, Cost: 3}
}

// accepted returns a job that was accepted.
func accepted(t testing.TB, l *ledger.Ledger, n ledger.NewJob) ledger.Job {
	t.Helper()
	a, err := l.Accept(ctx, n)
	if err != nil || a.Reason != reason.None || a.Claim != job.Free || a.Job.ID != n.ID {
		t.Fatalf("%s: %+v, %v", n.ID, a, err)
	}
	return a.Job
}

func ending(r call.Result) ledger.Ending {
	return ledger.Ending{Outcome: call.Outcome{Result: r}, Rules: jobRules}
}

func answered(text string) ledger.Ending {
	return ledger.Ending{Rules: jobRules, Status: 200, Answer: &ledger.Message{Head: []byte("{}"), Body: []byte(text)}}
}

func ids(jobs []ledger.Job) (all []string) {
	for _, j := range jobs {
		all = append(all, j.ID)
	}
	return all
}

// From the 202 to the answer, over a restart at each step.
func jobLife(t *testing.T, fresh func(testing.TB) Place) {
	p := fresh(t)
	n := 0
	l := open(t, p, "0")
	again := func() {
		t.Helper()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		n++
		l = open(t, p, fmt.Sprint(n))
	}
	is := func(want ledger.Job) {
		t.Helper()
		again()
		got, err := l.FindJob(ctx, "a")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v (%v), want %+v", got, err, want)
		}
	}
	asked := newJob("a", "acme \x00\xff\\")
	asked.Within, asked.Webhook, asked.Harmless = time.Hour, "https://hooks.example/x", true
	j := accepted(t, l, asked)
	if j.State != job.Waiting || j.Bytes != ledger.JobBase+9 || j.Deadline != j.Accepted.Run.Add(time.Hour) {
		t.Errorf("%+v", j)
	}
	is(j)
	due, err := l.Due(ctx, "mail", asked.Tenant, 5)
	if err != nil || !slices.Equal(ids(due), []string{"a"}) {
		t.Fatalf("%v, %v", due, err)
	}
	if j, err = l.StartJob(ctx, "a", 0); err != nil || j.State != job.Running || j.Attempt != 1 || j.Owner != fmt.Sprint(n) {
		t.Fatalf("%+v, %v", j, err)
	}
	is(j)
	e := answered("world")
	e.Outcome.Result, e.Evidence = call.Fault, "500" // twice is once: it waits
	if j, err = l.EndJob(ctx, "a", 1, e); err != nil || j.State != job.Waiting || j.Kept || j.Evidence != "500" {
		t.Fatalf("%+v, %v", j, err)
	}
	is(j)
	if _, err := l.StartJob(ctx, "a", 1); !errors.Is(err, job.ErrEarly) {
		t.Errorf("before its pause is over: %v", err)
	}
	if m, there, err := l.MessageOf(ctx, "a", ledger.Request); !there || err != nil || string(m.Body) != "hello" || string(m.Head) != "POST" {
		t.Errorf("%s, %v, %v", m.Body, there, err)
	}
}

// What is answered is kept, and the request goes.
func jobAnswered(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	n := newJob("a", "acme")
	n.Webhook = "https://hooks.example/x"
	accepted(t, l, n)
	if _, err := l.StartJob(ctx, "a", 0); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte{0, 1, 255}, 1<<18)
	j, err := l.EndJob(ctx, "a", 1, answered(string(big)))
	if err != nil || j.State != job.Done || j.Status != 200 || !j.Kept || j.Bytes != int64(ledger.JobBase+2+len(big)) || j.TellAt == 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	if m, there, err := l.MessageOf(ctx, "a", ledger.Answer); !there || err != nil || !bytes.Equal(m.Body, big) {
		t.Errorf("%d bytes, %v, %v", len(m.Body), there, err)
	}
	empty := newJob("empty", "acme")
	empty.Request = ledger.Message{}
	accepted(t, l, empty)
	if _, err := l.StartJob(ctx, "empty", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.EndJob(ctx, "empty", 1, ledger.Ending{Status: 204, Answer: &ledger.Message{}}); err != nil {
		t.Fatal(err)
	}
	if m, there, err := l.MessageOf(ctx, "empty", ledger.Answer); !there || err != nil || len(m.Body)+len(m.Head) != 0 {
		t.Errorf("an answer of nothing: %+v, %v, %v", m, there, err)
	}
	if _, there, err := l.MessageOf(ctx, "a", ledger.Request); there || err != nil {
		t.Errorf("its request is there %v, %v", there, err)
	}
	for _, again := range []call.Result{call.OK, call.Broken} {
		if _, err := l.EndJob(ctx, "a", 1, ending(again)); !errors.Is(err, job.ErrOver) {
			t.Errorf("told again: %v", err)
		}
	}
	// Its end is told until somebody has heard it, or it is given up.
	for i, c := range []struct {
		told  bool
		again time.Duration
		left  int
	}{{false, 1, 1}, {false, 1, 1}, {true, 1, 0}} {
		if j, err := l.ToTell(ctx, 5); err != nil || len(j) != 1 || j[0].Told != int64(i) {
			t.Errorf("%d: %v, %v", i, j, err)
		}
		if err := l.ToldJob(ctx, "a", c.told, c.again); err != nil {
			t.Error(err)
		}
	}
	if j, err := l.ToTell(ctx, 5); err != nil || len(j) != 0 {
		t.Errorf("%v, %v", j, err)
	}
	if _, err := l.FindJob(ctx, "nobody"); !errors.Is(err, ledger.ErrNoJob) {
		t.Error(err)
	}
	if _, err := l.StartJob(ctx, "nobody", 0); !errors.Is(err, ledger.ErrNoJob) {
		t.Error(err)
	}
}

// Of those who start one job at once, one may; a late writer changes nothing.
func jobFence(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	n := newJob("a", "acme")
	n.Harmless = true
	accepted(t, l, n)
	var all sync.WaitGroup
	var mu sync.Mutex
	started := 0
	for range 20 {
		all.Go(func() {
			_, err := l.StartJob(ctx, "a", 0)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				started++
			case !errors.Is(err, job.ErrStale):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if started != 1 {
		t.Errorf("started %d times", started)
	}
	if n, err := l.OrphanJobs(ctx, func(string) bool { return true }, func(string) job.Rules { return job.Rules{Attempts: 9} }, "its process is gone"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := l.StartJob(ctx, "a", 1); err != nil {
		t.Fatal(err)
	}
	if j, err := l.EndJob(ctx, "a", 1, answered("late")); !errors.Is(err, job.ErrStale) || j.State != job.Running || j.Kept {
		t.Errorf("the worker that was taken for dead: %+v, %v", j, err)
	}
	if j, err := l.EndJob(ctx, "a", 2, answered("second")); err != nil || j.State != job.Done {
		t.Errorf("%+v, %v", j, err)
	}
}

// A key is one job however many bring it at once; with another body it is a conflict.
func jobKeys(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	for _, inline := range []bool{false, true} {
		key := fmt.Sprint("key", inline)
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[job.Claim]int{}
		for i := range 40 {
			n := newJob(fmt.Sprint(key, i), "acme")
			n.Key, n.Print, n.Inline = key, fmt.Sprint("body", i%2), inline
			all.Go(func() {
				a, err := l.Accept(ctx, n)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				told[a.Claim]++
				mu.Unlock()
			})
		}
		all.Wait()
		same := map[bool]job.Claim{false: job.Known, true: job.InProgress}[inline]
		if told[job.Free] != 1 || told[same] != 19 || told[job.Conflict] != 20 {
			t.Errorf("inline %v: %v", inline, told)
		}
	}
	// The inline one is answered; then it is freed, and the key can be had again.
	holder, err := l.FindKey(ctx, "keytrue")
	if err != nil {
		t.Fatal(err)
	}
	again := newJob("again", "acme")
	again.Key, again.Print, again.Inline = "keytrue", holder.Print, true
	if _, err := l.EndJob(ctx, holder.ID, 1, answered("yes")); err != nil {
		t.Fatal(err)
	}
	a, err := l.Accept(ctx, again)
	if err != nil || a.Claim != job.Replay || a.Job.ID != holder.ID {
		t.Errorf("%+v, %v", a, err)
	}
	again.Key = "another"
	accepted(t, l, again)
	if _, err := l.EndJob(ctx, "again", 1, ending(call.Unsent)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.FindJob(ctx, "again"); !errors.Is(err, ledger.ErrNoJob) {
		t.Errorf("what was never sent is there: %v", err)
	}
	accepted(t, l, again)
}

// What a process that died has left, by whether its start marker was written and whether
// twice is once.
func jobOrphans(t *testing.T, fresh func(testing.TB) Place) {
	p := fresh(t)
	l := open(t, p, "dead")
	for _, id := range []string{"waiting", "once", "harmless", "inline"} {
		n := newJob(id, "acme")
		n.Harmless, n.Inline, n.Key = id == "harmless", id == "inline", id
		accepted(t, l, n)
		if id != "waiting" && id != "inline" {
			if _, err := l.StartJob(ctx, id, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, p, "alive")
	n, err := l.OrphanJobs(ctx, func(o string) bool { return o != "alive" }, func(string) job.Rules { return jobRules }, "its process is gone")
	if err != nil || n != 3 {
		t.Errorf("%d touched, %v", n, err)
	}
	for id, want := range map[string]job.State{"waiting": job.Waiting, "once": job.Unknown, "harmless": job.Waiting, "inline": job.Unknown} {
		if j, err := l.FindJob(ctx, id); err != nil || j.State != want {
			t.Errorf("%s: %v, %v, want %v", id, j.State, err, want)
		}
	}
	if _, err := l.ResolveJob(ctx, "once", true, ""); err == nil {
		t.Error("resolved without evidence")
	}
	if j, err := l.ResolveJob(ctx, "once", true, "its log of 12:00"); err != nil || j.State != job.Waiting || j.Evidence != "its log of 12:00" {
		t.Errorf("%+v, %v", j, err)
	}
}

// Bounds are of a tenant and of all, in jobs and in bytes, and what is refused leaves
// nothing.
func jobBounds(t *testing.T, fresh func(testing.TB) Place) {
	l := open(t, fresh(t), "one")
	try := func(id, tenant string, size int) reason.Reason {
		t.Helper()
		n := newJob(id, tenant)
		n.Request.Body = make([]byte, size)
		n.Most, n.Each = job.Bounds{Jobs: 4, Bytes: 1e6}, job.Bounds{Jobs: 3, Bytes: 9e5}
		a, err := l.Accept(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.FindJob(ctx, id); (err == nil) != (a.Reason == reason.None) {
			t.Errorf("%s: %v, and there: %v", id, a.Reason, err)
		}
		return a.Reason
	}
	for i, c := range []struct {
		tenant string
		size   int
		want   reason.Reason
	}{
		{"a", 10, reason.None}, {"a", 1e6, reason.TenantFull}, {"a", 10, reason.None}, {"a", 10, reason.None}, {"a", 10, reason.TenantFull},
		{"b", 998e3, reason.TenantFull}, {"b", 10, reason.None}, {"c", 10, reason.QueueFull},
	} {
		if got := try(fmt.Sprint(i), c.tenant, c.size); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	if _, err := l.CancelJob(ctx, "0"); err != nil {
		t.Fatal(err)
	}
	if got := try("after", "a", 10); got != reason.None {
		t.Errorf("one was taken back: %v", got)
	}
	if got := try("bytes", "d", 1<<20); got != reason.TenantFull {
		t.Errorf("%v", got)
	}
}

// A tenant's jobs are due in the order in which they came; what is tried again is due
// later; what waits beyond its deadline is dead.
func jobTurns(t *testing.T, fresh func(testing.TB) Place) {
	h := &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
	l := openAt(t, fresh(t), "one", h.now)
	for i := range 6 {
		n := newJob(fmt.Sprint(i), "a")
		n.Within = time.Duration(i+1) * time.Minute
		if i == 5 {
			n.Tenant = "b"
		}
		accepted(t, l, n)
		h.step(time.Second)
	}
	if names, err := l.Tenants(ctx, "mail", "", 10); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v, %v", names, err)
	}
	due := func(want ...string) {
		t.Helper()
		if got, err := l.Due(ctx, "mail", "a", 3); err != nil || !slices.Equal(ids(got), want) {
			t.Errorf("%v, want %v (%v)", ids(got), want, err)
		}
	}
	due("0", "1", "2")
	if _, err := l.StartJob(ctx, "0", 0); err != nil {
		t.Fatal(err)
	}
	if j, err := l.EndJob(ctx, "0", 1, ending(call.Unsent)); err != nil || j.State != job.Waiting {
		t.Fatal(j, err)
	}
	due("1", "2", "3")
	b, err := l.Backlog(ctx, "mail")
	if err != nil || b.Waiting != 6 || b.Open != 6 || b.Now.Sub(b.First) != 5*time.Second {
		t.Errorf("%+v, %v", b, err)
	}
	h.step(2 * time.Second)
	due("1", "2", "3") // and "0" after them
	h.step(3*time.Minute - 10*time.Second)
	if n, err := l.ExpireJobs(ctx); err != nil || n != 2 {
		t.Errorf("%d are late, %v", n, err)
	}
	if j, err := l.FindJob(ctx, "1"); err != nil || j.State != job.Dead || j.Why != reason.Expired {
		t.Errorf("%+v, %v", j, err)
	}
	due("2", "3", "4")
	if n, err := l.ExpireJobs(ctx); err != nil || n != 0 {
		t.Errorf("%d again, %v", n, err)
	}
	h.step(time.Hour)
	if _, err := l.StartJob(ctx, "2", 0); !errors.Is(err, job.ErrLate) {
		t.Errorf("right before its call: %v", err)
	}
	if j, err := l.FindJob(ctx, "2"); err != nil || j.State != job.Dead {
		t.Errorf("%+v, %v", j, err)
	}
	if b, err := l.Backlog(ctx, "nothing"); err != nil || b.First != unit.Never || b.Open != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}
