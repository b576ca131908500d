package grpcgate_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/reason"
)

func talk(t testing.TB, ctx context.Context, c *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	s, err := c.NewStream(ctx, &talkDesc, methodTalk)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// end reads a stream to its end.
func end(s grpc.ClientStream) (texts []string, a answer) {
	for {
		m := new(text)
		if err := s.RecvMsg(m); err != nil {
			if err != io.EOF {
				a.err = err
			}
			a.header, _ = s.Header()
			a.trailer = s.Trailer()
			return texts, a
		}
		texts = append(texts, m.Value)
	}
}

// A stream whose answer has begun in time outlives the class's deadline, however
// it began, and holds its slot until it ends.
func TestAStreamOutlivesTheDeadline(t *testing.T) {
	for name, begin := range map[string]func(grpc.ServerStream){
		"message":               func(s grpc.ServerStream) { s.SendMsg(wrapperspb.String("0")) },
		"header":                func(s grpc.ServerStream) { s.SendHeader(metadata.Pairs("x", "1")) },
		"header by the context": func(s grpc.ServerStream) { grpc.SendHeader(s.Context(), metadata.Pairs("x", "1")) },
	} {
		t.Run(name, func(t *testing.T) {
			class := within(500 * time.Millisecond) // in which a busy machine begins, too
			g := open(t, class)
			let := make(chan struct{})
			conn := setup{gate: g}.start(t, &service{talk: func(s grpc.ServerStream) error {
				begin(s)
				<-let
				if _, ok := s.Context().Deadline(); ok || s.Context().Err() != nil {
					return status.Error(codes.Internal, "the deadline was not lifted")
				}
				return s.SendMsg(wrapperspb.String("1"))
			}})
			s := talk(t, context.Background(), conn)
			if _, err := s.Header(); err != nil {
				t.Fatal(err)
			}
			<-time.After(550 * time.Millisecond) // longer than the class's deadline: that is what this is about
			if used := g.States()[0].Used; used != 1 {
				t.Errorf("%d slots used by a stream that flows", used)
			}
			close(let)
			texts, a := end(s)
			if a.err != nil || texts[len(texts)-1] != "1" {
				t.Errorf("%q, %v", texts, a.err)
			}
			if n := drained(t, g).Tally.Answered[reason.Served]; n != 1 {
				t.Errorf("%d served", n)
			}
		})
	}
}

// A stream is refused before its first message is read, in one frame.
func TestAStreamIsRefused(t *testing.T) {
	g := open(t, full())
	defer hold(t, g, 1)()
	conn := setup{gate: g}.start(t, &service{talk: func(grpc.ServerStream) error {
		t.Error("it ran")
		return nil
	}})
	_, a := end(talk(t, minute(t), conn)) // nothing was sent
	a.want(t, codes.Unavailable, "refusal", reason.QueueFull)
	if a.header.Len() != 0 {
		t.Errorf("a header went before it: %v", a.header)
	}
}

// A stream whose handler ignores its deadline: its caller is answered, and what
// the handler does with the stream afterwards is told so and reaches nobody.
func TestAStreamThatIgnoresItsDeadline(t *testing.T) {
	class := within(20 * time.Millisecond)
	g := open(t, class)
	let, did := make(chan struct{}), make(chan []error, 1)
	conn := setup{gate: g}.start(t, &service{talk: func(s grpc.ServerStream) error {
		<-let
		s.SetTrailer(metadata.Pairs("late", "1"))
		did <- []error{s.SetHeader(metadata.Pairs("late", "1")), s.SendHeader(nil), s.SendMsg(wrapperspb.String("late")), s.RecvMsg(new(text))}
		return nil
	}})
	texts, a := end(talk(t, minute(t), conn))
	a.want(t, codes.DeadlineExceeded, "refusal", reason.Timeout)
	if len(texts) > 0 || len(a.trailer["late"])+len(a.header["late"]) > 0 {
		t.Errorf("a late answer got through: %q, %+v", texts, a)
	}
	if s := g.States()[0]; s.Used != 1 || s.Tally.Abandoned != 1 {
		t.Errorf("%d slots used, %d abandoned", s.Used, s.Tally.Abandoned)
	}
	close(let)
	for i, err := range <-did {
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("step %d of the late handler: %v", i, err)
		}
	}
	drained(t, g)
}

// A handler that reads while its deadline passes is woken by it.
func TestReadingWhenTheDeadlinePasses(t *testing.T) {
	class := within(20 * time.Millisecond)
	g := open(t, class)
	read := make(chan error, 1)
	conn := setup{gate: g}.start(t, &service{talk: func(s grpc.ServerStream) error {
		err := s.RecvMsg(new(text))
		read <- err
		return err
	}})
	_, a := end(talk(t, minute(t), conn))
	a.want(t, codes.DeadlineExceeded, "refusal", reason.Timeout)
	if err := <-read; err == nil {
		t.Error("it read something that nobody sent")
	}
	drained(t, g)
}

// Messages both ways, a caller that hangs up, an error and a panic: the permit is
// finished exactly once (open checks that no second finish was counted).
func TestHowStreamsEnd(t *testing.T) {
	echoes := func(s grpc.ServerStream) error {
		for {
			m := new(text)
			if err := s.RecvMsg(m); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
	}
	recovers := func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, h grpc.StreamHandler) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = status.Errorf(codes.Internal, "recovered %v", v)
			}
		}()
		return h(srv, s)
	}
	for _, c := range []struct {
		name    string
		handler func(grpc.ServerStream) error
		hangUp  bool
		code    codes.Code
		why     reason.Reason
	}{
		{"answers", echoes, false, codes.OK, reason.Served},
		{"answers nothing", func(grpc.ServerStream) error { return nil }, false, codes.OK, reason.Served},
		{"fails", func(grpc.ServerStream) error { return fmt.Errorf("no") }, false, codes.Unknown, reason.Failed},
		{"panics", func(grpc.ServerStream) error { panic("boom") }, false, codes.Internal, reason.Failed},
		{"hang-up", echoes, true, codes.Canceled, reason.CallerGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t, full())
			conn := setup{gate: g, outerS: []grpc.StreamServerInterceptor{recovers}}.start(t, &service{talk: c.handler})
			ctx, cancel := context.WithCancel(minute(t))
			defer cancel()
			s := talk(t, ctx, conn)
			s.SendMsg(wrapperspb.String("hi"))
			if c.hangUp {
				s.Header() // it runs
				cancel()
			}
			if !c.hangUp {
				s.CloseSend() // or the handler might see the end of it first, and be done
			}
			_, a := end(s)
			if status.Code(a.err) != c.code {
				t.Errorf("ended with %v, want %v", a.err, c.code)
			}
			if n := drained(t, g).Tally.Answered[c.why]; n != 1 {
				t.Errorf("account %+v, want one %v", g.States()[0].Tally, c.why)
			}
		})
	}
}

// A caller's own grpc-timeout ends a stream that flows; the work that goes on is
// abandoned, and let go at the hard cap.
func TestTheCallersDeadlineCutsAStreamOff(t *testing.T) {
	class := full()
	class.HoldAtMost = 20 * time.Millisecond
	g := open(t, class)
	let, returned := make(chan struct{}), make(chan struct{})
	conn := setup{gate: g}.start(t, &service{talk: func(s grpc.ServerStream) error {
		defer close(returned)
		s.SendMsg(wrapperspb.String("0"))
		<-let
		return nil
	}})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	texts, a := end(talk(t, ctx, conn))
	if len(texts) != 1 || status.Code(a.err) != codes.DeadlineExceeded {
		t.Errorf("%q, %v", texts, a.err)
	}
	drained(t, g) // while the handler runs still
	close(let)
	<-returned
}

// With the stats handler, bytes are the cost: a tenant that sends and is sent
// more is charged more, and gets its next turn later.
func TestCostByBytes(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprint("without the stats handler ", plain), func(t *testing.T) {
			class := gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Minute, Service: time.Second, Tenants: gate.Tenants{Policy: fair.DRR}}}
			g := open(t, class)
			var mu sync.Mutex
			var turns []string
			conn := setup{gate: g, plain: plain, opts: []grpcgate.Option{
				grpcgate.Tenant(grpcgate.Metadata("x-tenant")), grpcgate.CostByBytes(100),
			}}.start(t, &service{say: func(ctx context.Context, in *text) (*text, error) {
				mu.Lock()
				defer mu.Unlock()
				turns = append(turns, grpcgate.Metadata("x-tenant")(grpcgate.Request{Context: ctx}))
				return in, nil
			}})
			release := hold(t, g, 1)
			var callers sync.WaitGroup
			for i := range 20 {
				tenant, size := "large", 4000
				if i%2 == 1 {
					tenant, size = "small", 1
				}
				callers.Go(func() {
					say(metadata.AppendToOutgoingContext(minute(t), "x-tenant", tenant), conn, strings.Repeat("x", size))
				})
			}
			eventually(t, "all to wait", func() bool { return g.States()[0].Waiting == 20 })
			release()
			callers.Wait()
			first := strings.Count(strings.Join(turns[:10], ","), "small")
			if plain && first > 6 {
				t.Errorf("turns %v: nobody knew of bytes", turns)
			}
			if !plain && first < 9 {
				t.Errorf("turns %v: forty units wait as long as one", turns)
			}
		})
	}
}
