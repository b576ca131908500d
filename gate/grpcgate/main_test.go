package grpcgate_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type text = wrapperspb.StringValue

// service is a gRPC service written out by hand: Say answers, Talk streams both ways.
type service struct {
	say   func(context.Context, *text) (*text, error)
	talk  func(grpc.ServerStream) error
	calls atomic.Int64 // of Say, before any interceptor
}

const (
	methodSay  = "/test.Echo/Say"
	methodTalk = "/test.Echo/Talk"
)

var talkDesc = grpc.StreamDesc{StreamName: "Talk", ServerStreams: true, ClientStreams: true}

var serviceDesc = grpc.ServiceDesc{
	ServiceName: "test.Echo", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		s := srv.(*service)
		s.calls.Add(1)
		in := new(text)
		if err := decode(in); err != nil {
			return nil, err
		}
		return intercept(ctx, in, &grpc.UnaryServerInfo{Server: srv, FullMethod: methodSay}, func(ctx context.Context, m any) (any, error) {
			return s.say(ctx, m.(*text))
		})
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Talk", ServerStreams: true, ClientStreams: true, Handler: func(srv any, ss grpc.ServerStream) error {
		return srv.(*service).talk(ss)
	}}},
}

// setup is what a test's server and client are made of.
type setup struct {
	gate    *gate.Gate
	opts    []grpcgate.Option
	outer   []grpc.UnaryServerInterceptor // around ours
	outerS  []grpc.StreamServerInterceptor
	plain   bool   // without the stats handler
	retries string // a service config's methodConfig
}

func (u setup) start(t testing.TB, s *service) *grpc.ClientConn {
	l := bufconn.Listen(1 << 16)
	opts := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(append(u.outer, grpcgate.UnaryServerInterceptor(u.gate, u.opts...))...),
		grpc.ChainStreamInterceptor(append(u.outerS, grpcgate.StreamServerInterceptor(u.gate, u.opts...))...),
	}
	if !u.plain {
		opts = append(opts, grpc.StatsHandler(grpcgate.StatsHandler()))
	}
	server := grpc.NewServer(opts...)
	server.RegisterService(&serviceDesc, s)
	go server.Serve(l)
	dial := []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	}
	if u.retries != "" {
		dial = append(dial, grpc.WithDefaultServiceConfig(u.retries))
	}
	c, err := grpc.NewClient("passthrough:///test", dial...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.Stop()
	})
	return c
}

// open returns a gate of one class whose accounts must close when the test ends.
func open(t testing.TB, c gate.Class) *gate.Gate {
	t.Helper()
	c.Name = "checkout"
	return openAll(t, c)
}

func openAll(t testing.TB, classes ...gate.Class) *gate.Gate {
	t.Helper()
	g, err := gate.New(gate.Config{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		if g.Bugs() != 0 {
			t.Errorf("%d bugs", g.Bugs())
		}
		g.Close()
	})
	return g
}

// full is a class with one slot and no room.
func full() gate.Class {
	return gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Millisecond, Service: time.Millisecond}}
}

// within is such a class whose requests have d at most, whatever they ask for.
func within(d time.Duration) gate.Class {
	c := full()
	c.Deadline, c.DeadlineMax = d, d
	return c
}

// hold takes the slots of a class and returns what gives them back.
func hold(t testing.TB, g *gate.Gate, n int) (release func()) {
	t.Helper()
	held := make([]gate.Permit, n)
	for i := range held {
		p, err := g.Acquire(context.Background(), gate.Request{Tenant: "holder"})
		if err != nil {
			t.Fatal(err)
		}
		held[i] = p
	}
	return func() {
		for _, p := range held {
			p.Done()
		}
	}
}

// drained waits until nothing holds a slot any more.
func drained(t testing.TB, g *gate.Gate) boundary.ClassState {
	t.Helper()
	eventually(t, "the slots to be free", func() bool { return g.States()[0].Used == 0 })
	return g.States()[0]
}

// eventually waits for what other goroutines bring about; the bound is only
// there to end a test that fails.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// answer is what a caller gets of a unary call.
type answer struct {
	text            string
	err             error
	header, trailer metadata.MD
}

func say(ctx context.Context, c *grpc.ClientConn, what string, opts ...grpc.CallOption) answer {
	var a answer
	out := new(text)
	opts = append(opts, grpc.Header(&a.header), grpc.Trailer(&a.trailer))
	a.err = c.Invoke(ctx, methodSay, wrapperspb.String(what), out, opts...)
	a.text = out.Value
	return a
}

// want checks code, rung and reason, wherever they are said.
func (a answer) want(t testing.TB, code codes.Code, rung string, why reason.Reason) {
	t.Helper()
	got := func(key string) string { return strings.Join(append(a.header[key], a.trailer[key]...), ",") }
	if status.Code(a.err) != code || got("spillway-rung") != rung || got("spillway-reason") != why.String() {
		t.Errorf("got %v, rung %q, reason %q; want %v, %s, %v", a.err, got("spillway-rung"), got("spillway-reason"), code, rung, why)
	}
}

func echo(_ context.Context, in *text) (*text, error) { return in, nil }

func minute(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// nowhere is a transport that keeps nothing.
type nowhere struct{}

func (nowhere) Method() string               { return methodSay }
func (nowhere) SetHeader(metadata.MD) error  { return nil }
func (nowhere) SendHeader(metadata.MD) error { return nil }
func (nowhere) SetTrailer(metadata.MD) error { return nil }
