package grpcgate_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// What is tried again, counted at the server: what was surely not done always, what may
// have been done only if it may be done twice, and an answer never.
func TestWhatIsTriedAgain(t *testing.T) {
	info := func(c codes.Code, d time.Duration) error {
		st, err := status.New(c, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
		if err != nil {
			t.Fatal(err)
		}
		return st.Err()
	}
	for _, tt := range []struct {
		name         string
		fails        func(context.Context) error
		blind, twice int64 // attempts of 3
		code         codes.Code
	}{
		{"an answer", func(context.Context) error { return nil }, 1, 1, codes.OK},
		{"busy, by the trailer", func(ctx context.Context) error { return busy(ctx, "1") }, 3, 3, codes.Unavailable},
		{"busy, by the details", func(context.Context) error { return info(codes.Unavailable, ms) }, 3, 3, codes.Unavailable},
		{"its own limit", func(context.Context) error { return info(codes.ResourceExhausted, ms) }, 3, 3, codes.ResourceExhausted},
		{"never again", func(ctx context.Context) error { return busy(ctx, "-1") }, 1, 1, codes.Unavailable},
		{"not before the deadline", func(ctx context.Context) error { return busy(ctx, "3600000") }, 1, 1, codes.Unavailable},
		{"unavailable, it does not say why", func(context.Context) error { return status.Error(codes.Unavailable, "?") }, 1, 3, codes.Unavailable},
		{"exhausted, it does not say why", func(context.Context) error { return status.Error(codes.ResourceExhausted, "?") }, 1, 3, codes.ResourceExhausted},
		{"a message too long", func(context.Context) error {
			return status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")
		}, 1, 1, codes.ResourceExhausted},
		{"its dependency was late", func(context.Context) error { return status.Error(codes.DeadlineExceeded, "?") }, 1, 3, codes.DeadlineExceeded},
		{"cut off", func(context.Context) error { return status.Error(codes.Canceled, "?") }, 1, 3, codes.Canceled},
		{"unknown", func(context.Context) error { return errors.New("boom") }, 1, 3, codes.Unknown},
		{"internal", func(context.Context) error { return status.Error(codes.Internal, "?") }, 1, 3, codes.Internal},
		{"data loss", func(context.Context) error { return status.Error(codes.DataLoss, "?") }, 1, 3, codes.DataLoss},
		{"unimplemented", func(context.Context) error { return status.Error(codes.Unimplemented, "?") }, 1, 1, codes.Unimplemented},
		{"not found", func(context.Context) error { return status.Error(codes.NotFound, "?") }, 1, 1, codes.NotFound},
		{"aborted", func(context.Context) error { return status.Error(codes.Aborted, "?") }, 1, 1, codes.Aborted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, k := range []struct {
				opts []grpcgate.ClientOption
				want int64
			}{
				{nil, tt.blind},
				{[]grpcgate.ClientOption{safe}, tt.twice},
				{[]grpcgate.ClientOption{grpcgate.HonoursKeys()}, tt.twice},
				{[]grpcgate.ClientOption{grpcgate.Idempotent("/test.Echo/Talk", "/other/*")}, tt.blind},
			} {
				s := &service{say: func(ctx context.Context, in *text) (*text, error) { return in, tt.fails(ctx) }}
				a := say(minute(t), plain(t, s, tries(2), k.opts...), "hi")
				if status.Code(a.err) != tt.code || s.calls.Load() != k.want {
					t.Errorf("%v after %d attempts, want %v after %d", a.err, s.calls.Load(), tt.code, k.want)
				}
				if f, failed := errors.AsType[*caller.Failure](a.err); failed && (f.Attempts != int(k.want) || f.Reason == reason.Timeout) {
					t.Errorf("the failure is %+v", f)
				}
			}
		})
	}
}

// An attempt says which it is and under which key; a caller that passes a retry on goes on
// counting.
func TestAttemptsAreAnnounced(t *testing.T) {
	var numbers, before, keys []string
	s := &service{say: func(ctx context.Context, in *text) (*text, error) {
		numbers = append(numbers, incoming(ctx, "x-envoy-attempt-count"))
		before = append(before, incoming(ctx, "grpc-previous-rpc-attempts"))
		keys = append(keys, incoming(ctx, "idempotency-key"))
		return in, status.Error(codes.Internal, "down")
	}}
	conn := plain(t, s, tries(1), grpcgate.HonoursKeys())
	say(minute(t), conn, "hi")
	say(metadata.AppendToOutgoingContext(minute(t), "x-envoy-attempt-count", "2", "idempotency-key", "mine"), conn, "hi")
	if !slices.Equal(numbers, []string{"1", "2", "2", "3"}) || !slices.Equal(before, []string{"", "1", "1", "2"}) {
		t.Errorf("numbered %q, with %q before", numbers, before)
	}
	if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[2] != "mine" || keys[3] != "mine" {
		t.Errorf("keys %q", keys)
	}
}

// What nobody listens to was surely not sent, and any call may be tried again.
func TestNoConnectionIsUnsent(t *testing.T) {
	l := bufconn.Listen(1)
	l.Close()
	d := dependency(t, tries(2))
	a := say(minute(t), dialed(t, grpc.NewServer(), l, d), "hi")
	f, _ := errors.AsType[*caller.Failure](a.err)
	if status.Code(a.err) != codes.Unavailable || f == nil || f.Attempts != 3 || f.Reason != reason.Failed {
		t.Errorf("%v, %+v", a.err, f)
	}
}

// K4, failsafe-go#65: a hedge's loser writes into nothing of the winner's: neither its
// reply nor its header, trailer and peer.
func TestALoserWritesNothingOfTheWinners(t *testing.T) {
	began, lost := make(chan struct{}), make(chan struct{})
	s := &service{say: func(ctx context.Context, in *text) (*text, error) {
		n := incoming(ctx, "x-envoy-attempt-count")
		grpc.SetTrailer(ctx, metadata.Pairs("attempt", n))
		if n == "1" {
			close(began)
			<-ctx.Done() // the hedge has answered
			close(lost)
			return wrapperspb.String("the loser's"), nil
		}
		<-began
		return wrapperspb.String("the winner's"), nil
	}}
	conn := plain(t, s, hedged(ms), safe)
	var from peer.Peer
	var ends atomic.Int64
	a := say(minute(t), conn, "hi", grpc.Peer(&from), grpc.OnFinish(func(error) { ends.Add(1) }))
	<-lost
	if a.err != nil || a.text != "the winner's" || !slices.Equal(a.trailer["attempt"], []string{"2"}) {
		t.Errorf("%q, %v, trailer %v", a.text, a.err, a.trailer)
	}
	if from.Addr == nil || ends.Load() != 1 {
		t.Errorf("peer %v; told of %d ends", from, ends.Load())
	}
}

// What is given up is a status for gRPC and a failure for the library.
func TestAFailureIsAStatus(t *testing.T) {
	hang := &service{say: func(ctx context.Context, _ *text) (*text, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	gone, leave := context.WithCancel(minute(t))
	leave()
	broken := call.Policy{Breaker: call.Breaker{Consecutive: 1, OpenFor: time.Hour}}
	down := &service{say: func(context.Context, *text) (*text, error) { return nil, status.Error(codes.Internal, "down") }}
	opened := plain(t, down, broken)
	say(minute(t), opened, "hi")
	for _, tt := range []struct {
		name string
		a    answer
		code codes.Code
		why  reason.Reason
		is   error
	}{
		{"no answer in time", say(minute(t), plain(t, hang, call.Policy{Timeout: 10 * ms}, safe), "hi"), codes.DeadlineExceeded, reason.Timeout, context.DeadlineExceeded},
		{"nobody knows", say(minute(t), plain(t, hang, call.Policy{Timeout: 10 * ms}), "hi"), codes.DeadlineExceeded, reason.Unknown, caller.ErrFailed},
		{"its caller left", say(gone, plain(t, hang, call.Policy{}), "hi"), codes.Canceled, reason.CallerGone, context.Canceled},
		{"the breaker is open", say(minute(t), opened, "hi"), codes.Unavailable, reason.BreakerOpen, reason.BreakerOpen},
	} {
		f, _ := errors.AsType[*caller.Failure](tt.a.err)
		if st, ok := status.FromError(tt.a.err); !ok || st.Code() != tt.code || f == nil || f.Reason != tt.why || !errors.Is(tt.a.err, tt.is) {
			t.Errorf("%s: %v, %+v; want %v, %v", tt.name, tt.a.err, f, tt.code, tt.why)
		}
	}
	if n := down.calls.Load(); n != 1 {
		t.Errorf("asked %d times, want once: the breaker is open", n)
	}
}

// A reply of a type that protobuf knows nothing of is handed over whole.
func TestAnyReplyIsHandedOver(t *testing.T) {
	type plainReply struct{ Value string }
	invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		reply.(*plainReply).Value = "hi"
		return nil
	}
	var reply plainReply
	err := grpcgate.UnaryClient(dependency(t, hedged(time.Minute)), safe)(t.Context(), methodSay, nil, &reply, nil, invoke)
	if err != nil || reply.Value != "hi" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// E1: the limit of an attempt travels, and the service stops there and has its slot back,
// though its class allows a minute.
func TestALimitFreesTheServicesSlot(t *testing.T) {
	class := full()
	class.Deadline, class.DeadlineMax = time.Minute, time.Minute
	g := open(t, class)
	ended := make(chan error, 2)
	s := &service{
		say: func(ctx context.Context, in *text) (*text, error) {
			if in.Value == "connect" {
				return in, nil
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		},
		talk: func(s grpc.ServerStream) error {
			<-s.Context().Done()
			ended <- s.Context().Err()
			return s.Context().Err()
		},
	}
	conn := guarded(t, g, s, call.Policy{Timeout: 500 * ms}) // within which it is heard, however busy the machine
	stopped := func() {
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("the service's work was not stopped, or never begun")
		}
		drained(t, g)
	}
	if a := say(context.Background(), conn, "connect"); a.err != nil {
		t.Fatal(a.err)
	}
	if a := say(context.Background(), conn, "hi"); status.Code(a.err) != codes.DeadlineExceeded {
		t.Errorf("a frozen service answered %v", a.err)
	}
	stopped()
	if _, a := end(talk(t, context.Background(), conn)); status.Code(a.err) != codes.DeadlineExceeded {
		t.Errorf("a frozen service answered a stream with %v", a.err)
	}
	stopped()
}

// F1, F2: three times what a service can do, by callers that would each try four times. Its
// gate refuses, says when to come back, and it is asked for no more than first attempts, a
// tenth, and the floor.
func TestOverloadIsNotMultiplied(t *testing.T) {
	const slots, calls = 4, 12 * 20
	class := gate.Class{Pool: gate.Pool{Slots: slots, Latency: ms, Service: ms}}
	class.RetryAfterMax = 2 * ms
	g := open(t, class)
	s := &service{say: func(ctx context.Context, in *text) (*text, error) {
		select {
		case <-time.After(2 * ms):
		case <-ctx.Done():
		}
		return in, nil
	}}
	conn := guarded(t, g, s, call.Policy{Timeout: 20 * time.Second, Retries: 3, Budget: call.Budget{Percent: 10, Floor: 3}})
	crowd(3*slots, calls/(3*slots), func() { say(context.Background(), conn, "hi") })
	n := s.calls.Load()
	if most := int64(calls + calls/10 + 3); n < calls || n > most {
		t.Errorf("%d calls were %d attempts at the service, want at most %d", calls, n, most)
	}
	if drained(t, g).Tally.Answered[reason.QueueFull] == 0 {
		t.Error("nothing was refused: there was no overload")
	}
}

// guarded is plain with a gate before the service.
func guarded(t testing.TB, g *gate.Gate, s *service, p call.Policy, opts ...grpcgate.ClientOption) *grpc.ClientConn {
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(grpcgate.UnaryServerInterceptor(g)),
		grpc.ChainStreamInterceptor(grpcgate.StreamServerInterceptor(g)))
	server.RegisterService(&serviceDesc, s)
	return dialed(t, server, bufconn.Listen(1<<16), dependency(t, p), opts...)
}
