package grpcgate_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// receive reads what is sent to a service until its end.
func receive(s grpc.ServerStream) (texts []string) {
	for {
		m := new(text)
		if s.RecvMsg(m) != nil {
			return texts
		}
		texts = append(texts, m.Value)
	}
}

func sendAll(t *testing.T, s grpc.ClientStream, texts ...string) {
	t.Helper()
	for _, m := range texts {
		if err := s.SendMsg(wrapperspb.String(m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
}

// A stream is tried again until its answer begins, with all that was sent.
func TestAStreamIsTriedAgainFromItsStart(t *testing.T) {
	var got [][]string
	var numbers []string
	s := &service{talk: func(s grpc.ServerStream) error {
		numbers = append(numbers, incoming(s.Context(), "x-envoy-attempt-count"))
		got = append(got, receive(s))
		if len(got) < 3 {
			return status.Error(codes.Internal, "down")
		}
		return s.SendMsg(wrapperspb.String("answered"))
	}}
	stream := talk(t, minute(t), plain(t, s, tries(2), safe))
	sendAll(t, stream, "a", "b", "c")
	texts, a := end(stream)
	if a.err != nil || !slices.Equal(texts, []string{"answered"}) {
		t.Errorf("%q, %v", texts, a.err)
	}
	for i, texts := range got {
		if !slices.Equal(texts, []string{"a", "b", "c"}) || numbers[i] != strconv.Itoa(i+1) {
			t.Errorf("attempt %s was sent %q", numbers[i], texts)
		}
	}
}

// An answer that has begun is the stream's: what breaks then is told, and not tried again.
func TestAnAnswerThatHasBegunIsNotTriedAgain(t *testing.T) {
	var opened atomic.Int64
	s := &service{talk: func(s grpc.ServerStream) error {
		opened.Add(1)
		s.SendMsg(wrapperspb.String("first"))
		return status.Error(codes.Internal, "broke off")
	}}
	stream := talk(t, minute(t), plain(t, s, tries(2), safe))
	sendAll(t, stream)
	texts, a := end(stream)
	if status.Code(a.err) != codes.Internal || len(texts) != 1 || opened.Load() != 1 {
		t.Errorf("%q, %v, opened %d times", texts, a.err, opened.Load())
	}
	if _, failed := errors.AsType[*caller.Failure](a.err); failed {
		t.Errorf("%v is the service's own word", a.err)
	}
}

// What ends without an answer is told as it is of a unary call.
func TestAStreamWithoutAnAnswer(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code codes.Code
		want int64
	}{
		{nil, codes.OK, 1},
		{status.Error(codes.NotFound, "?"), codes.NotFound, 1},
		{status.Error(codes.Internal, "?"), codes.Internal, 3},
	} {
		var opened atomic.Int64
		s := &service{talk: func(s grpc.ServerStream) error {
			opened.Add(1)
			return tt.err
		}}
		var ends atomic.Int64
		ctx := minute(t)
		stream, err := plain(t, s, tries(2), safe).NewStream(ctx, &talkDesc, methodTalk, grpc.OnFinish(func(error) { ends.Add(1) }))
		if err != nil {
			t.Fatal(err)
		}
		if _, a := end(stream); status.Code(a.err) != tt.code || opened.Load() != tt.want || ends.Load() != 1 {
			t.Errorf("%v, opened %d times, told of %d ends; want %v, %d, 1", a.err, opened.Load(), ends.Load(), tt.code, tt.want)
		}
		if err := stream.SendMsg(wrapperspb.String("late")); err != io.EOF {
			t.Errorf("sent after the end: %v", err)
		}
	}
}

// A stream longer than what is kept streams on, with no more of it in memory than that, and
// is not tried again.
func TestALongStreamIsSentOnce(t *testing.T) {
	for name, fails := range map[string]bool{"served": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			const messages, size = 200, 1000
			var opened atomic.Int64
			s := &service{talk: func(s grpc.ServerStream) error {
				opened.Add(1)
				n := len(receive(s))
				if fails {
					return status.Error(codes.Internal, "down")
				}
				return s.SendMsg(wrapperspb.String(strconv.Itoa(n)))
			}}
			stream := talk(t, minute(t), plain(t, s, tries(2), safe, grpcgate.ReplayLimit(10*size)))
			for range messages {
				if err := stream.SendMsg(wrapperspb.String(strings.Repeat("x", size))); err != nil {
					t.Fatal(err)
				}
			}
			stream.CloseSend()
			texts, a := end(stream)
			if fails && status.Code(a.err) != codes.Internal || !fails && (a.err != nil || texts[0] != strconv.Itoa(messages)) {
				t.Errorf("%q, %v", texts, a.err)
			}
			if n := opened.Load(); n != 1 {
				t.Errorf("opened %d times", n)
			}
		})
	}
}

// The limit of an attempt is met by its first message: it does not end the stream, and is
// not told to the service as the stream's own. Messages go both ways meanwhile.
func TestAWinnerLivesOn(t *testing.T) {
	for name, p := range map[string]call.Policy{
		"a limit":   {Timeout: 500 * ms},
		"a hedge":   {Timeout: 500 * ms, Hedge: hedged(time.Minute).Hedge},
		"no limits": {},
	} {
		t.Run(name, func(t *testing.T) {
			limited := make(chan bool, 1)
			s := &service{talk: func(s grpc.ServerStream) error {
				_, ok := s.Context().Deadline()
				limited <- ok
				for {
					m := new(text)
					if err := s.RecvMsg(m); err != nil {
						return nil
					}
					s.SendMsg(m)
				}
			}}
			stream := talk(t, context.Background(), plain(t, s, p, safe))
			say := func(what string) {
				t.Helper()
				m := new(text)
				if err := stream.SendMsg(wrapperspb.String(what)); err != nil {
					t.Fatal(err)
				}
				if err := stream.RecvMsg(m); err != nil || m.Value != what {
					t.Fatalf("%q, %v", m.Value, err)
				}
			}
			say("in time")
			<-time.After(550 * ms) // longer than the limit: that is what this is about
			say("later")
			if <-limited {
				t.Error("the service was told that all of the stream has a limit")
			}
			stream.CloseSend()
			if _, a := end(stream); a.err != nil {
				t.Error(a.err)
			}
		})
	}
}

// A hedge beside a stream that hangs wins it; the loser is cut off, with all it has.
func TestAStreamsLoserIsCutOff(t *testing.T) {
	cut := make(chan struct{})
	var opened atomic.Int64
	s := &service{talk: func(s grpc.ServerStream) error {
		if opened.Add(1) == 1 {
			<-s.Context().Done()
			close(cut)
			return nil
		}
		for _, m := range receive(s) {
			s.SendMsg(wrapperspb.String(m))
		}
		return nil
	}}
	stream := talk(t, minute(t), plain(t, s, hedged(ms), safe))
	sendAll(t, stream, "a", "b")
	texts, a := end(stream)
	if a.err != nil || !slices.Equal(texts, []string{"a", "b"}) {
		t.Errorf("%q, %v", texts, a.err)
	}
	<-cut
}

// Who leaves before there is an answer leaves nothing behind, and hears that it was them.
func TestLeavingAStream(t *testing.T) {
	began := make(chan struct{})
	s := &service{talk: func(s grpc.ServerStream) error {
		close(began)
		<-s.Context().Done()
		return s.Context().Err()
	}}
	ctx, leave := context.WithCancel(context.Background())
	stream := talk(t, ctx, plain(t, s, tries(2), safe))
	<-began
	leave()
	if _, a := end(stream); status.Code(a.err) != codes.Canceled {
		t.Error(a.err)
	}
}

// The first message of a stream is due within what its caller says beside grpc-timeout,
// unless callers are not heeded.
func TestTheCallersWordOnAStream(t *testing.T) {
	for heed, want := range map[bool]time.Duration{true: 5 * time.Second, false: time.Minute} {
		class := full()
		class.Deadline, class.DeadlineMax = time.Minute, time.Minute
		left := make(chan time.Duration, 1)
		conn := setup{gate: open(t, class), opts: []grpcgate.Option{grpcgate.HeedDeadline(heed)}}.start(t, &service{talk: func(s grpc.ServerStream) error {
			at, _ := s.Context().Deadline()
			left <- time.Until(at)
			return nil
		}})
		d := dependency(t, call.Policy{Timeout: 5 * time.Second})
		stream, err := grpcgate.StreamClient(d)(context.Background(), &talkDesc, conn, methodTalk,
			func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				return cc.NewStream(ctx, desc, method, opts...)
			})
		if err != nil {
			t.Fatal(err)
		}
		end(stream)
		if got := <-left; got > want || got < want-4*time.Second {
			t.Errorf("heeded %v: %v left, want %v", heed, got, want)
		}
	}
}
