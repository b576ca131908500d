package grpcgate

import (
	"context"
	"io"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/spillway-dev/spillway/gate/caller"
)

// clientStream is a stream as its user sees it: until the call is decided what is sent is
// kept, and each attempt sends it from the start; then it is the winner's.
type clientStream struct {
	client *client
	desc   *grpc.StreamDesc
	ctx    context.Context // the user's
	open   func(context.Context, ...grpc.CallOption) (grpc.ClientStream, error)
	to     listeners
	ask    caller.Request

	// done is closed once the call is decided. What follows it is not written after.
	done    chan struct{}
	won     *flight // whose answer it is, or a failure's
	err     error
	raised  *caller.Panic
	unwatch func() bool // of the user's context; nil: nobody wants to hear of the end

	finished, told sync.Once

	mu      sync.Mutex
	moved   sync.Cond // what follows has changed
	decided bool
	fixed   bool // it cannot be sent again
	latest  caller.Attempt
	flights []*flight // under way
	log     []sending // what was sent, from number gone on
	gone    int
	bytes   int64 // in the log
}

// sending is one message that was sent, or the end of them.
type sending struct {
	message any
	end     bool
	bytes   int64
}

func (c *client) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	d := c.choose(ctx, method)
	if d == nil {
		return streamer(ctx, desc, cc, method, opts...)
	}
	s := &clientStream{client: c, desc: desc, ctx: ctx, to: listenersOf(opts), ask: c.ask(ctx, method), done: make(chan struct{})}
	s.moved.L = &s.mu
	s.open = func(ctx context.Context, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		return streamer(ctx, desc, cc, method, opts...)
	}
	go s.run(d)
	return s, nil
}

// run makes the call. It ends with the call's decision, at the latest with its context.
func (s *clientStream) run(d *caller.Caller) {
	returned := false
	defer func() {
		if !returned {
			s.raised = raisedBy(recover())
			s.decide(new(flight), errRaised)
		}
	}()
	f, held, err := caller.Hold(s.ctx, d, s.ask, s.attempt, s.discard)
	returned = true
	if f == nil {
		f = new(flight)
	}
	f.held = held
	if err != nil {
		err = ended(err, f.end)
	}
	s.decide(f, err)
}

// decide makes the stream that of an attempt, or says why there is none.
func (s *clientStream) decide(f *flight, err error) {
	s.mu.Lock()
	s.decided, s.won, s.err = true, f, err
	s.flights = s.flights[:0]
	if streams := err == nil && f.end == nil; streams {
		s.flights = append(s.flights, f)
		if len(s.to.finish) > 0 {
			s.unwatch = context.AfterFunc(s.ctx, s.left)
		}
	}
	s.trim()
	s.moved.Broadcast()
	s.mu.Unlock()
	close(s.done)
	switch {
	case err != nil:
		s.finish(err)
	case f.end != nil:
		s.finish(f.end)
	}
}

// errRaised is what a stream comes to whose attempt did not return.
var errRaised = status.Error(codes.Internal, "an attempt at the stream panicked")

// raisedBy is a panic to be raised again on the user's goroutine; nil: there was none, the
// attempt ended its goroutine.
func raisedBy(value any) *caller.Panic {
	if value == nil {
		return nil
	}
	if p, ok := value.(*caller.Panic); ok {
		return p
	}
	return &caller.Panic{Value: value, Stack: debug.Stack()}
}

// wait returns once the call is decided. A panic of its attempts is the user's.
func (s *clientStream) wait() {
	<-s.done
	if s.raised != nil {
		panic(s.raised)
	}
}

// finish ends the winner's context and tells of the end, once.
func (s *clientStream) finish(err error) {
	s.finished.Do(func() {
		if s.unwatch != nil {
			s.unwatch()
		}
		s.won.held.Release()
		if err == io.EOF {
			err = nil
		}
		s.to.hear(&s.won.heard)
		s.over(err)
	})
}

// left tells of the end of a stream whose user has gone and perhaps does not read it to its
// end. What was heard is grpc's still.
func (s *clientStream) left() { s.over(status.FromContextError(s.ctx.Err()).Err()) }

// over tells that it has ended, once.
func (s *clientStream) over(err error) { s.told.Do(func() { s.to.ended(err) }) }

// SendMsg implements grpc.ClientStream. Of a stream that has ended it returns io.EOF, and
// RecvMsg why.
func (s *clientStream) SendMsg(m any) error {
	err := s.send(sending{message: m, bytes: lengthOf(m)})
	if err == io.EOF && !s.desc.ClientStreams {
		return nil // as grpc does: what was sent ends it, and RecvMsg says what came of it
	}
	return err
}

// CloseSend implements grpc.ClientStream.
func (s *clientStream) CloseSend() error {
	if err := s.send(sending{end: true}); err != io.EOF {
		return err
	}
	return nil
}

func (s *clientStream) send(what sending) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.decided {
		s.keep(what)
		for s.fixed && s.bytes > s.client.replay && !s.decided {
			s.moved.Wait()
		}
		return nil // who wins sends what is left
	}
	for len(s.flights) > 0 && !s.won.idle {
		s.moved.Wait()
	}
	switch {
	case s.err != nil || s.won.end != nil:
		return io.EOF
	case s.won.sendErr != nil:
		return s.won.sendErr
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	return s.won.send(what)
}

// keep puts it where attempts find it. What outgrows the limit has all attempts be the
// last.
func (s *clientStream) keep(what sending) {
	s.log = append(s.log, what)
	s.bytes += what.bytes
	if s.bytes > s.client.replay && !s.fixed {
		s.fixed = true
		s.latest.Fix()
	}
	s.moved.Broadcast()
}

// trim forgets what nobody needs any more.
func (s *clientStream) trim() {
	if !s.fixed && !s.decided {
		return
	}
	least := s.gone + len(s.log)
	if !s.decided && len(s.flights) == 0 {
		return // the first is still to come
	}
	for _, f := range s.flights {
		least = min(least, f.next)
	}
	for ; s.gone < least; s.gone++ {
		s.bytes -= s.log[0].bytes
		s.log[0] = sending{}
		s.log = s.log[1:]
	}
}

// lengthOf returns the length of a message on the wire; of one that nobody can tell, more
// than may be kept.
func lengthOf(m any) int64 {
	if m, ok := m.(proto.Message); ok {
		return int64(proto.Size(m))
	}
	return 1 << 40
}

// Header implements grpc.ClientStream. It waits until the answer begins.
func (s *clientStream) Header() (metadata.MD, error) {
	s.wait()
	if s.err != nil || s.won.end != nil {
		return nil, s.err
	}
	return s.won.stream.Header()
}

// RecvMsg implements grpc.ClientStream. As with grpc's own, the end has been told to whoever
// listens when it is returned here.
func (s *clientStream) RecvMsg(m any) error {
	s.wait()
	switch {
	case s.err != nil:
		s.finish(s.err)
		return s.err
	case s.won.end != nil:
		s.finish(s.won.end)
		return s.won.end
	}
	err := s.won.stream.RecvMsg(m)
	if err != nil || !s.desc.ServerStreams {
		s.finish(err)
	}
	return err
}

// Trailer implements grpc.ClientStream: it is there once RecvMsg has returned an error.
func (s *clientStream) Trailer() metadata.MD {
	select {
	case <-s.done:
	default:
		return nil
	}
	if s.won.stream == nil {
		return nil
	}
	return s.won.stream.Trailer()
}

// Context implements grpc.ClientStream: the winner's once the answer has begun, until then
// the user's.
func (s *clientStream) Context() context.Context {
	select {
	case <-s.done:
		if s.won.stream != nil {
			return s.won.stream.Context()
		}
	default:
	}
	return s.ctx
}
