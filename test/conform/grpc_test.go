package conform_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// withGRPC answers gRPC calls by a gRPC server and all else by next.
func withGRPC(next http.Handler) http.Handler {
	s := grpc.NewServer()
	s.RegisterService(&speech, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			s.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// speech is a service written out by hand: Say answers, Talk answers everything
// that it hears.
var speech = grpc.ServiceDesc{
	ServiceName: "conform.Speech", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: say}},
	Streams: []grpc.StreamDesc{{StreamName: "Talk", ServerStreams: true, ClientStreams: true, Handler: talk}},
}

func say(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := new(wrapperspb.StringValue)
	if err := decode(in); err != nil {
		return nil, err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	grpc.SetHeader(ctx, metadata.Pairs("seen", strings.Join(md.Get("x-tenant"), ","), "bytes-bin", "\x00\xff"))
	grpc.SetTrailer(ctx, metadata.Pairs("sum", "42"))
	switch in.Value {
	case "fail":
		s, _ := status.New(codes.FailedPrecondition, "not now: ünicode").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
		return nil, s.Err()
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return wrapperspb.String("you said " + in.Value), nil
}

func talk(_ any, stream grpc.ServerStream) error {
	for {
		in := new(wrapperspb.StringValue)
		switch err := stream.RecvMsg(in); {
		case err == io.EOF:
			stream.SetTrailer(metadata.Pairs("sum", "43"))
			return nil
		case err != nil:
			return err
		}
		if err := stream.SendMsg(wrapperspb.String(strings.ToUpper(in.Value))); err != nil {
			return err
		}
	}
}

// Calls of grpc-go: answers, statuses with details, metadata both ways, streams
// both ways, deadlines, large messages.
func TestGRPC(t *testing.T) {
	ways := serve(t)
	calls := map[string]func(context.Context, *grpc.ClientConn) string{
		"a call":       unary("hello"),
		"a failure":    unary("fail"),
		"a large call": unary(strings.Repeat("large", 200_000)),
		"a deadline": func(ctx context.Context, c *grpc.ClientConn) string {
			ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			return status.Code(c.Invoke(ctx, "/conform.Speech/Say", wrapperspb.String("wait"), new(wrapperspb.StringValue))).String()
		},
		"no such method": func(ctx context.Context, c *grpc.ClientConn) string {
			return fmt.Sprint(c.Invoke(ctx, "/conform.Speech/Sing", wrapperspb.String(""), new(wrapperspb.StringValue)))
		},
		"a conversation": conversation,
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			same(t, ways, func(t *testing.T, addr string) string {
				c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				ctx, cancel := context.WithTimeout(context.Background(), soon)
				defer cancel()
				return call(metadata.AppendToOutgoingContext(ctx, "x-tenant", "acme"), c)
			})
		})
	}
}

func unary(text string) func(context.Context, *grpc.ClientConn) string {
	return func(ctx context.Context, c *grpc.ClientConn) string {
		var head, tail metadata.MD
		out := new(wrapperspb.StringValue)
		err := c.Invoke(ctx, "/conform.Speech/Say", wrapperspb.String(text), out, grpc.Header(&head), grpc.Trailer(&tail))
		s := status.Convert(err)
		return fmt.Sprintf("%d bytes %.30s\n%v %q %v\n%q %q\n%q", len(out.Value), out.Value, s.Code(), s.Message(), s.Details(), head.Get("seen"), head.Get("bytes-bin"), tail.Get("sum"))
	}
}

func conversation(ctx context.Context, c *grpc.ClientConn) string {
	stream, err := c.NewStream(ctx, &speech.Streams[0], "/conform.Speech/Talk")
	if err != nil {
		return err.Error()
	}
	var told strings.Builder
	for i := range 20 { // each answer is waited for: nothing may be held back
		if err := stream.SendMsg(wrapperspb.String(fmt.Sprint("word ", i))); err != nil {
			return err.Error()
		}
		out := new(wrapperspb.StringValue)
		if err := stream.RecvMsg(out); err != nil {
			return err.Error()
		}
		fmt.Fprintln(&told, out.Value)
	}
	stream.CloseSend()
	fmt.Fprintln(&told, stream.RecvMsg(new(wrapperspb.StringValue)), stream.Trailer().Get("sum"))
	return told.String()
}
