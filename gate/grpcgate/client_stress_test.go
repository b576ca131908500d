package grpcgate_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/test/leak"
	"github.com/spillway-dev/spillway/test/need"
)

var errBoom = errors.New("boom")

// cuttable is a listener that can break one of its connections off.
type cuttable struct {
	net.Listener
	mu    sync.Mutex
	conns map[*net.TCPConn]bool
}

func (l *cuttable) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c.(*net.TCPConn)] = true
	return c, nil
}

func (l *cuttable) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.SetLinger(0)
		c.Close()
		delete(l.conns, c)
		return
	}
}

// moody is a service that does at random what services do; it says nil if it is well.
func moody(ctx context.Context, l *cuttable) error {
	if rand.IntN(4) == 0 {
		wait(ctx, time.Duration(rand.Int64N(int64(5*ms))))
	}
	switch n := rand.IntN(100); {
	case n < 2: // hangs
		<-ctx.Done()
		return ctx.Err()
	case n < 3: // is deaf, and late
		wait(context.Background(), 80*ms)
	case n < 4 && rand.IntN(10) == 0: // its connection breaks, with all that is on it
		l.cut()
	case n < 6:
		return status.Error(codes.Internal, "down")
	case n < 8:
		return busy(ctx, "3")
	case n < 9:
		return status.Error(codes.Unavailable, "?")
	case n < 10:
		return status.Error(codes.NotFound, "?")
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// boom panics now and then.
func boom() {
	if rand.IntN(400) == 0 {
		panic(errBoom)
	}
}

// crew makes calls at random over some connections, and counts how they end.
type crew struct {
	t       *testing.T
	conns   []*grpc.ClientConn
	callers []*caller.Caller
	lost    atomic.Int64 // panics too late for their call
	open    atomic.Int64 // calls that were not told of their end

	whole, broken, failed, panicked atomic.Int64
}

// newCrew connects to the listener. Below its interceptors are others, which panic now and
// then before there is a call, and after.
func newCrew(t *testing.T, l net.Listener) *crew {
	c := &crew{t: t}
	for _, p := range policies() {
		d, err := caller.New(p, caller.OnPanic(func(any, []byte) { c.lost.Add(1) }))
		if err != nil {
			t.Fatal(err)
		}
		c.callers = append(c.callers, d)
	}
	opts := []grpcgate.ClientOption{
		grpcgate.Dependency(func(context.Context, string) *caller.Caller { return c.callers[rand.IntN(len(c.callers))] }),
		grpcgate.IdempotentIf(func(string) bool { return rand.IntN(4) > 0 }), grpcgate.ReplayLimit(2 << 10),
	}
	for range 4 {
		conn, err := grpc.NewClient("passthrough:///"+l.Addr().String(),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry(),
			grpc.WithChainUnaryInterceptor(grpcgate.UnaryClient(nil, opts...), func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				boom()
				defer boom()
				return invoke(ctx, method, req, reply, cc, opts...)
			}),
			grpc.WithChainStreamInterceptor(grpcgate.StreamClient(nil, opts...), func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				boom()
				return open(ctx, desc, cc, method, opts...)
			}))
		if err != nil {
			t.Fatal(err)
		}
		c.conns = append(c.conns, conn)
	}
	return c
}

// policies are those of the dependencies that the calls go to, in turn.
func policies() (all []call.Policy) {
	tenth := call.Budget{Percent: 10, Floor: 3}
	limits := call.Policy{
		Timeout: 50 * ms, Retries: 2, Budget: tenth, Backoff: call.Backoff{Base: ms},
		Breaker: call.Breaker{Failures: 80, OpenFor: 5 * ms, OpenMax: 10 * ms},
	}
	hedges := limits
	hedges.Hedge = call.Hedge{After: 2 * ms, Budget: tenth, SlowShare: 100}
	free := hedges
	free.Budget, free.Hedge.Budget = unlimited, unlimited
	return []call.Policy{limits, hedges, free, {Timeout: 50 * ms}}
}

// call makes one, whose caller may leave.
func (c *crew) call() {
	ctx, cancel := context.WithTimeout(c.t.Context(), 500*ms) // nothing else ends a stream that hangs once it has begun
	defer cancel()
	if rand.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(rand.Int64N(int64(8*ms))), cancel).Stop()
	}
	told := grpc.OnFinish(func(error) { c.open.Add(-1) })
	c.open.Add(1)
	defer func() {
		if p := recover(); p != nil {
			c.panicked.Add(1)
			if err, ok := p.(error); !ok || !errors.Is(err, errBoom) {
				panic(p)
			}
		}
	}()
	var err error
	conn, text := c.conns[rand.IntN(len(c.conns))], strings.Repeat("x", rand.IntN(2<<10))
	if rand.IntN(2) == 0 {
		err = c.say(ctx, conn, text, told)
	} else {
		err = c.talk(ctx, conn, text, told)
	}
	f, _ := errors.AsType[*caller.Failure](err)
	switch _, ok := status.FromError(err); {
	case !ok:
		c.t.Errorf("ended with %v, which is no status", err)
	case err == nil:
		c.whole.Add(1)
	case f != nil && f.Reason != reason.Failed:
		c.failed.Add(1)
	default:
		c.broken.Add(1)
	}
}

func (c *crew) say(ctx context.Context, conn *grpc.ClientConn, text string, told grpc.CallOption) error {
	returned := false
	defer func() {
		if !returned {
			c.open.Add(-1) // it panicked, and says so
		}
	}()
	a := say(ctx, conn, text, told)
	returned = true
	if a.err == nil && a.text != text {
		c.t.Errorf("%d bytes came back of %d", len(a.text), len(text))
	}
	return a.err
}

// talk sends a few messages and reads the answers; of some streams not all.
func (c *crew) talk(ctx context.Context, conn *grpc.ClientConn, text string, told grpc.CallOption) error {
	stream, err := conn.NewStream(ctx, &talkDesc, methodTalk, told)
	if err != nil {
		c.open.Add(-1)
		return err
	}
	sent := 0
	for range rand.IntN(4) {
		if stream.SendMsg(wrapperspb.String(text)) != nil {
			break // RecvMsg says why
		}
		sent++
	}
	if rand.IntN(20) > 0 {
		stream.CloseSend()
	} else if rand.IntN(2) == 0 {
		return nil // not read at all
	}
	for got := 0; ; got++ {
		m := new(wrapperspb.StringValue)
		switch err := stream.RecvMsg(m); {
		case err == io.EOF && got != sent:
			c.t.Errorf("%d messages came back of %d", got, sent)
			return nil
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case m.Value != text:
			c.t.Errorf("%d bytes came back of %d", len(m.Value), len(text))
		case rand.IntN(10) == 0:
			return nil // not read to its end
		}
	}
}

// The million over real connections: callers that leave, interceptors that panic, a service
// behind a gate that hangs, breaks off, answers late and by half and refuses, limits,
// hedges and retries, of calls and of streams. Nothing is left of them, no goroutine,
// connection, permit or reserved retry, no memory; each is told of its end once, and
// whoever reads an answer to its end gets all of it.
func TestNothingIsLeftOfClientsAtRandom(t *testing.T) {
	total := need.Count(t, "SPILLWAY_CALLS", 4_000)
	before := leak.Held()
	g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{Name: "all", Pool: gate.Pool{Slots: 100, Latency: time.Second, Service: 5 * ms}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &cuttable{Listener: tcp, conns: map[*net.TCPConn]bool{}}
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(grpcgate.UnaryServerInterceptor(g)),
		grpc.ChainStreamInterceptor(grpcgate.StreamServerInterceptor(g)))
	server.RegisterService(&serviceDesc, &service{
		say:  func(ctx context.Context, in *text) (*text, error) { return in, moody(ctx, l) },
		talk: func(s grpc.ServerStream) error { return babble(s, l) },
	})
	go server.Serve(l)
	c := newCrew(t, l)
	var next atomic.Int64
	crowd(16, total/16+1, func() {
		if next.Add(1) <= int64(total) {
			c.call()
		}
	})
	drained(t, g)
	eventually(t, "all calls to have been told of their end", func() bool { return c.open.Load() == 0 })
	for i, d := range c.callers {
		eventually(t, "budgets to be closed", func() bool { return d.State().Reserved == 0 })
		if s := d.State(); s.Calls == 0 || len(c.callers)-1 > i && s.Retries == 0 {
			t.Errorf("caller %d: %+v", i, s.Count)
		}
	}
	for _, conn := range c.conns {
		conn.Close()
	}
	server.Stop()
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	g.Close()
	before.Left(t, leak.Slack{Heap: 8 << 20})
	whole, broken, failed, panicked := c.whole.Load(), c.broken.Load(), c.failed.Load(), c.panicked.Load()
	if whole == 0 || broken == 0 || failed == 0 || panicked == 0 {
		t.Error("not all that can happen has happened")
	}
	t.Logf("%d calls: %d read whole, %d broke off, %d had no answer, %d panicked, %d panics too late for their call", total, whole, broken, failed, panicked, c.lost.Load())
}

// babble answers message for message, once it has them all; or it does not.
func babble(s grpc.ServerStream, l *cuttable) error {
	ctx := s.Context()
	if err := moody(ctx, l); err != nil {
		return err
	}
	half := rand.IntN(20) == 0
	for n, m := range receive(s) {
		s.SendMsg(wrapperspb.String(m))
		if half && n == 0 {
			if err := moody(ctx, l); err != nil {
				return err
			}
			return status.Error(codes.Internal, "broke off")
		}
	}
	return nil
}

// A panic of an interceptor below this one is raised where the stream is read: on the
// goroutine of whoever opened it, who can recover it, and not on one of ours, where nobody
// can.
func TestAStreamsPanicIsItsUsers(t *testing.T) {
	for name, p := range map[string]call.Policy{"alone": {}, "beside a hedge": hedged(time.Nanosecond)} {
		var ends atomic.Int64
		stream, err := grpcgate.StreamClient(dependency(t, p), safe)(t.Context(), &talkDesc, nil, methodTalk,
			func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
				panic(errBoom)
			}, grpc.OnFinish(func(error) { ends.Add(1) }))
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range []func(){func() { stream.RecvMsg(nil) }, func() { stream.Header() }} {
			func() {
				defer func() {
					if raised, ok := recover().(*caller.Panic); !ok || raised.Value != errBoom || !strings.Contains(string(raised.Stack), "TestAStreamsPanic") {
						t.Errorf("%s: recovered %v", name, raised)
					}
				}()
				read()
			}()
		}
		if err := stream.SendMsg(nil); err != io.EOF {
			t.Errorf("%s: sent after it: %v", name, err)
		}
		eventually(t, "the end to be told", func() bool { return ends.Load() > 0 }) // beside whoever reads
		if n := ends.Load(); n != 1 {
			t.Errorf("%s: told of %d ends", name, n)
		}
	}
}

// A hedge that lost may still be written when its call has returned, and the caller
// may use its message again by then: where there can be two at once, what is sent is
// no more his.
func TestAHedgeSendsNothingThatIsTheCallers(t *testing.T) {
	in := wrapperspb.String("what is sent")
	for name, k := range map[string]struct {
		p    call.Policy
		same bool
	}{"alone": {call.Policy{}, true}, "beside a hedge": {hedged(time.Hour), false}} {
		err := grpcgate.UnaryClient(dependency(t, k.p), safe)(t.Context(), methodSay, in, new(text), nil,
			func(_ context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				if sent := req.(*text); (sent == in) != k.same || sent.Value != in.Value {
					t.Errorf("%s: %q is sent, the caller's own message: %v", name, sent.Value, sent == in)
				}
				return nil
			})
		if err != nil {
			t.Error(name, err)
		}
	}
}
