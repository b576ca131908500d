package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/policy/reason"
)

// echo is a gRPC service written out by hand: Say answers, Count streams.
type echo struct {
	say   func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error)
	count func(*wrapperspb.StringValue, grpc.ServerStream) error
}

var echoDesc = grpc.ServiceDesc{
	ServiceName: "test.Echo", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(s any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.StringValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		return s.(*echo).say(ctx, in)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Count", ServerStreams: true, Handler: func(s any, stream grpc.ServerStream) error {
		in := new(wrapperspb.StringValue)
		if err := stream.RecvMsg(in); err != nil {
			return err
		}
		return s.(*echo).count(in, stream)
	}}},
}

func startGRPC(t *testing.T, e *echo, classes string) (*harness, *grpc.ClientConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	s.RegisterService(&echoDesc, e)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	h := startAt(t, "h2c://"+l.Addr().String(), classes)
	c, err := grpc.NewClient(h.addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return h, c
}

func TestGRPC(t *testing.T) {
	let := make(chan struct{})
	left := make(chan time.Duration, 10)
	e := &echo{
		say: func(ctx context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
			d, _ := ctx.Deadline()
			left <- time.Until(d)
			switch in.Value {
			case "wait":
				select {
				case <-let:
				case <-ctx.Done():
				}
			case "fail":
				return nil, status.Error(codes.NotFound, "not here")
			}
			grpc.SetTrailer(ctx, metadata.Pairs("x-sum", "42"))
			return wrapperspb.String("you said " + in.Value), nil
		},
		count: func(in *wrapperspb.StringValue, s grpc.ServerStream) error {
			n, _ := strconv.Atoi(in.Value)
			for i := range n {
				if err := s.SendMsg(wrapperspb.String(strconv.Itoa(i))); err != nil {
					return err
				}
				if _, ok := s.Context().Deadline(); ok {
					return status.Error(codes.Internal, "the class's default deadline was forced on a stream")
				}
				if i == 0 { // longer than the class's deadline
					<-time.After(150 * time.Millisecond)
				}
			}
			return nil
		},
	}
	h, c := startGRPC(t, e, "  all: { slots: 1, deadline: 100ms, memory: { limit: 1KiB, per_request: 1KiB }, abandoned: { cancel: off } }")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out := new(wrapperspb.StringValue)

	t.Run("unary, with trailers and a deadline that shrinks", func(t *testing.T) {
		var trailer metadata.MD
		if err := c.Invoke(ctx, "/test.Echo/Say", wrapperspb.String("hi"), out, grpc.Trailer(&trailer)); err != nil {
			t.Fatal(err)
		}
		if out.Value != "you said hi" || len(trailer["x-sum"]) != 1 || trailer["x-sum"][0] != "42" {
			t.Errorf("%q, trailers %v", out.Value, trailer)
		}
		if d := <-left; d <= 0 || d > 5*time.Second {
			t.Errorf("the service had %v left of 5s", d)
		}
	})
	t.Run("a status of the service's own", func(t *testing.T) {
		err := c.Invoke(ctx, "/test.Echo/Say", wrapperspb.String("fail"), out)
		<-left
		if status.Code(err) != codes.NotFound || status.Convert(err).Message() != "not here" {
			t.Errorf("%v", err)
		}
	})
	t.Run("a stream outlives the class's deadline", func(t *testing.T) {
		stream, err := c.NewStream(context.Background(), &echoDesc.Streams[0], "/test.Echo/Count")
		if err != nil {
			t.Fatal(err)
		}
		stream.SendMsg(wrapperspb.String("3"))
		stream.CloseSend()
		n := 0
		for ; ; n++ {
			if err := stream.RecvMsg(out); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if n != 3 {
			t.Errorf("%d messages, want 3", n)
		}
	})
	t.Run("refused with a status and pushback, timed out with a status", func(t *testing.T) {
		first := make(chan error, 1)
		go func() {
			first <- c.Invoke(ctx, "/test.Echo/Say", wrapperspb.String("wait"), new(wrapperspb.StringValue))
		}()
		<-left
		var trailer metadata.MD
		err := c.Invoke(ctx, "/test.Echo/Say", wrapperspb.String("second"), out, grpc.Trailer(&trailer))
		if status.Code(err) != codes.Unavailable || len(trailer["grpc-retry-pushback-ms"]) != 1 || len(trailer["spillway-reason"]) != 1 || trailer["spillway-reason"][0] != "queue_bytes" {
			t.Errorf("%v, %v", err, trailer)
		}
		let <- struct{}{}
		if err := <-first; err != nil {
			t.Error(err)
		}
		short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := c.Invoke(short, "/test.Echo/Say", wrapperspb.String("wait"), out); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%v", err)
		}
		until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	})
	if n := h.state("all").Tally.Answered[reason.Served]; n < 4 {
		t.Errorf("%d served on the account, want at least 4", n)
	}
}

// gRPC needs HTTP/2 all the way, also to an upstream written http://.
func TestGRPCToAPlainURL(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
	})
	req, _ := http.NewRequest("POST", h.url, nil)
	req.Header.Set("Content-Type", "application/grpc+proto")
	res, err := read(h2c(t).Do(req))
	if err != nil || res.Header.Get("X-Proto") != "HTTP/2.0" {
		t.Errorf("%v, %v", res.Header, err)
	}
	if res := h.get("/"); res.Header.Get("X-Proto") != "HTTP/1.1" {
		t.Errorf("anything else came as %s", res.Header.Get("X-Proto"))
	}
}
