package grpcgate_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// An answer says that it is the full one in its header, an error of the service's
// own in its trailer; the account tells the two apart.
func TestServed(t *testing.T) {
	for _, c := range []struct {
		err  error
		code codes.Code
		why  reason.Reason
	}{
		{nil, codes.OK, reason.Served},
		{status.Error(codes.NotFound, "not here"), codes.NotFound, reason.Served},
		{status.Error(codes.Unavailable, "a dependency is down"), codes.Unavailable, reason.Failed},
		{fmt.Errorf("anything"), codes.Unknown, reason.Failed},
		{context.DeadlineExceeded, codes.DeadlineExceeded, reason.Timeout},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			g := open(t, full())
			conn := setup{gate: g}.start(t, &service{say: func(_ context.Context, in *text) (*text, error) { return in, c.err }})
			a := say(minute(t), conn, "hi")
			a.want(t, c.code, "primary", c.why)
			if c.err == nil && a.text != "hi" {
				t.Errorf("answer %q", a.text)
			}
			if c.err != nil && len(a.header["spillway-reason"]) > 0 {
				t.Error("an error has a header beside it, and no client would retry it")
			}
			if n := drained(t, g).Tally.Answered[c.why]; n != 1 {
				t.Errorf("%d answered %v", n, c.why)
			}
		})
	}
}

// One too many is refused, and its handler never runs.
func TestRefused(t *testing.T) {
	g := open(t, full())
	release := hold(t, g, 1)
	defer release()
	conn := setup{gate: g}.start(t, &service{say: func(context.Context, *text) (*text, error) {
		t.Error("it ran")
		return nil, nil
	}})
	say(minute(t), conn, "hi").want(t, codes.Unavailable, "refusal", reason.QueueFull)
}

// grpc-timeout is the request's deadline, cut to what the class allows, and what
// is left of it is the handler's.
func TestDeadlinePassedOn(t *testing.T) {
	class := full()
	class.Deadline, class.DeadlineMax = 20*time.Second, 30*time.Second
	g := open(t, class)
	left := make(chan time.Duration, 1)
	conn := setup{gate: g}.start(t, &service{say: func(ctx context.Context, in *text) (*text, error) {
		d, _ := ctx.Deadline()
		left <- time.Until(d)
		return in, nil
	}})
	for _, c := range []struct{ named, most time.Duration }{{0, 20 * time.Second}, {10 * time.Second, 10 * time.Second}, {time.Hour, 30 * time.Second}} {
		ctx := context.Background()
		if c.named > 0 {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, c.named)
			defer cancel()
		}
		say(ctx, conn, "hi").want(t, codes.OK, "primary", reason.Served)
		if d := <-left; d > c.most || d <= 0 {
			t.Errorf("named %v: the handler had %v, want at most %v", c.named, d, c.most)
		}
	}
}

// A handler that ignores its deadline: its caller is answered at that instant,
// what it returns answers nobody, and it holds its slot until it has returned.
func TestAHandlerThatIgnoresItsDeadline(t *testing.T) {
	class := within(20 * time.Millisecond)
	g := open(t, class)
	let := make(chan struct{})
	ended := make(chan error, 1)
	conn := setup{gate: g}.start(t, &service{say: func(ctx context.Context, in *text) (*text, error) {
		<-let
		ended <- ctx.Err()
		grpc.SetTrailer(ctx, metadata.Pairs("late", "1"))
		return in, nil
	}})
	a := say(minute(t), conn, "hi")
	a.want(t, codes.DeadlineExceeded, "refusal", reason.Timeout)
	if len(a.trailer["late"]) > 0 || a.text != "" {
		t.Errorf("a late answer got through: %+v", a)
	}
	say(minute(t), conn, "next").want(t, codes.Unavailable, "refusal", reason.QueueFull)
	if s := g.States()[0]; s.Tally.Abandoned != 1 || s.Used != 1 {
		t.Errorf("abandoned %d, slots used %d; want 1, 1", s.Tally.Abandoned, s.Used)
	}
	close(let)
	if err := <-ended; err != context.DeadlineExceeded {
		t.Errorf("the handler's context ended with %v", err)
	}
	drained(t, g)
}

// The hard cap takes the slot from a handler that never returns; that it returns
// one day is no second release.
func TestTheHardCap(t *testing.T) {
	class := within(10 * time.Millisecond)
	class.HoldAtMost = 10 * time.Millisecond
	g := open(t, class)
	let := make(chan struct{})
	returned := make(chan struct{})
	conn := setup{gate: g}.start(t, &service{say: func(context.Context, *text) (*text, error) {
		<-let
		defer close(returned)
		return nil, nil
	}})
	say(minute(t), conn, "hi").want(t, codes.DeadlineExceeded, "refusal", reason.Timeout)
	drained(t, g)
	close(let)
	<-returned
}

// A caller that hangs up ends the handler's context; the slot is held until the
// handler has returned. One that waits is out of the room at once.
func TestHangUp(t *testing.T) {
	g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Minute, Service: time.Second}})
	began, ended := make(chan struct{}), make(chan error)
	let := make(chan struct{})
	conn := setup{gate: g}.start(t, &service{say: func(ctx context.Context, in *text) (*text, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		<-let
		return in, nil
	}})
	ctx, hangUp := context.WithCancel(context.Background())
	waiting, giveUp := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	callers.Go(func() { say(ctx, conn, "runs") })
	<-began
	callers.Go(func() { say(waiting, conn, "waits") })
	eventually(t, "the second to wait", func() bool { return g.States()[0].Waiting == 1 })
	giveUp()
	eventually(t, "it to leave", func() bool { return g.States()[0].Waiting == 0 })
	hangUp()
	if err := <-ended; err != context.Canceled {
		t.Errorf("the handler's context ended with %v", err)
	}
	eventually(t, "the work to be abandoned", func() bool { return g.States()[0].Tally.Abandoned == 1 })
	if s := g.States()[0]; s.Used != 1 {
		t.Errorf("%d slots used while the handler runs", s.Used)
	}
	close(let)
	callers.Wait()
	if n := drained(t, g).Tally.Answered[reason.CallerGone]; n != 2 {
		t.Errorf("%d callers gone, want 2", n)
	}
}

// A panic reaches the interceptors around this one with its value, and the slot is
// free again.
func TestPanic(t *testing.T) {
	g := open(t, full())
	value := fmt.Errorf("boom")
	recovered := make(chan any, 1)
	recoverer := func(ctx context.Context, m any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (a any, err error) {
		defer func() {
			recovered <- recover()
			err = status.Error(codes.Internal, "recovered")
		}()
		return h(ctx, m)
	}
	conn := setup{gate: g, outer: []grpc.UnaryServerInterceptor{recoverer}}.start(t,
		&service{say: func(context.Context, *text) (*text, error) { panic(value) }})
	for range 3 {
		a := say(minute(t), conn, "hi")
		if v := <-recovered; v != value || status.Code(a.err) != codes.Internal {
			t.Errorf("recovered %v, answered %v", v, a.err)
		}
	}
	if n := drained(t, g).Tally.Answered[reason.Failed]; n != 3 {
		t.Errorf("%d failed, want 3", n)
	}
}

// A panic that nobody recovers ends the process with its value and its stack, as
// it does without the gate, whether or not its caller has been answered.
func TestPanicEndsTheProcess(t *testing.T) {
	if os.Getenv("GRPCGATE_PANIC") != "" {
		class := within(10 * time.Millisecond)
		conn := setup{gate: open(t, class)}.start(t, &service{say: func(ctx context.Context, _ *text) (*text, error) {
			if os.Getenv("GRPCGATE_PANIC") == "late" {
				<-ctx.Done()
			}
			theHandler()
			return nil, nil
		}})
		say(minute(t), conn, "hi")
		select {} // until the process ends
	}
	for _, when := range []string{"in time", "late"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPanicEndsTheProcess$", "-test.timeout=30s")
		cmd.Env = append(os.Environ(), "GRPCGATE_PANIC="+when, "GRPC_GO_LOG_SEVERITY_LEVEL=error")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: boom") || !strings.Contains(string(out), "grpcgate_test.theHandler") {
			t.Errorf("%s: %v\n%s", when, err, out)
		}
	}
}

func theHandler() { panic("boom") }

// What is classified is what is enforced, through a real server: the class by
// method or metadata, the tenant, the importance; and nothing that a caller sends
// does harm.
func TestClassification(t *testing.T) {
	g := openAll(t,
		gate.Class{Name: "first", Pool: gate.Pool{Slots: 1}},
		gate.Class{Name: "second", Pool: gate.Pool{Slots: 1}})
	var seen grpcgate.Request
	conn := setup{gate: g, opts: []grpcgate.Option{
		grpcgate.Class(func(r grpcgate.Request) string { seen = r; return grpcgate.Metadata("x-class")(r) }),
		grpcgate.Tenant(grpcgate.Metadata("x-tenant")),
		grpcgate.Importance(func(grpcgate.Request) int { return -7 }),
		grpcgate.Cost(func(grpcgate.Request) int64 { return -1 }),
		grpcgate.Timeout(func(grpcgate.Request) time.Duration { return -time.Second }),
	}}.start(t, &service{say: echo})
	for _, c := range []struct {
		class, tenant string
		index         int
	}{
		{"second", "acme", 1}, {"first", "acme", 0}, {"none such", "", 0}, {"", strings.Repeat("x", 4000), 0},
	} {
		before := g.States()[c.index].Tally.Offered
		ctx := metadata.AppendToOutgoingContext(minute(t), "x-class", c.class, "x-tenant", c.tenant)
		say(ctx, conn, "hi").want(t, codes.OK, "primary", reason.Served)
		if n := g.States()[c.index].Tally.Offered - before; n != 1 {
			t.Errorf("class %q: %d more offered in class %d", c.class, n, c.index)
		}
		if seen.Method != methodSay || seen.Message.(*text).Value != "hi" || seen.Bytes != 4 {
			t.Errorf("the options saw %+v", seen)
		}
	}
	known, _ := g.Tenants(1)
	if last := known[len(known)-1]; last.Name != "acme" || last.Tally.Offered != 1 {
		t.Errorf("tenants %v", known)
	}
}

// Health is asked past the gate; everything is if the options say so.
func TestExempt(t *testing.T) {
	if !grpcgate.Health(grpcgate.Request{Method: "/grpc.health.v1.Health/Check"}) || grpcgate.Health(grpcgate.Request{Method: methodSay}) {
		t.Error("what is health, and what is not")
	}
	g := open(t, full())
	defer hold(t, g, 1)()
	conn := setup{gate: g, opts: []grpcgate.Option{grpcgate.Exempt(func(r grpcgate.Request) bool { return r.Method == methodSay })}}.start(t, &service{say: echo})
	if a := say(minute(t), conn, "hi"); a.err != nil || a.text != "hi" {
		t.Errorf("%+v", a)
	}
}

// Waiting requests count with the bytes of their message.
func TestBytesOfWhatWaits(t *testing.T) {
	g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Minute, Service: time.Second, MemoryLimit: 1000, PerRequest: 10}})
	release := hold(t, g, 1)
	conn := setup{gate: g}.start(t, &service{say: echo})
	var waits sync.WaitGroup
	waits.Go(func() { say(minute(t), conn, strings.Repeat("x", 600)).want(t, codes.OK, "primary", reason.Served) })
	eventually(t, "it to wait", func() bool { return g.States()[0].WaitingBytes > 600 })
	say(minute(t), conn, strings.Repeat("x", 600)).want(t, codes.Unavailable, "refusal", reason.QueueBytes)
	release()
	waits.Wait()
}
