package grpcgate

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/spillway-dev/spillway/gate/caller"
	policy "github.com/spillway-dev/spillway/policy/call"
)

// flight is one attempt at a stream. The fields below heard are guarded by the stream's mu
// until the call is decided.
type flight struct {
	stream grpc.ClientStream
	heard  heard
	held   caller.Held
	end    error // what it ended with, without a header; nil: its answer has begun

	next    int  // number of what it sends next
	idle    bool // nothing is sent for it any more but by the user
	sendErr error
}

// errOutgrown is what an attempt comes to whose messages are no longer all there.
var errOutgrown = errors.New("grpcgate: the stream's messages outgrew what is kept to send them again")

// attempt opens the stream once, and returns when its answer begins or it has ended.
func (s *clientStream) attempt(ctx context.Context, a caller.Attempt) (*flight, error) {
	f := new(flight)
	if !s.join(f, a) {
		return nil, &caller.Error{Outcome: policy.Outcome{Result: policy.Unsent, Never: true}, Err: errOutgrown}
	}
	defer func() {
		if f.stream == nil || f.end != nil {
			s.leave(f)
		}
	}()
	stream, err := s.open(streamContext{s.client.announce(ctx, a, s.ask.Keyed, true), s.ctx}, s.to.options(&f.heard)...)
	if err != nil {
		f.end = err
		return f, answered(err, &f.heard)
	}
	f.stream = stream
	go s.pump(f)
	if md, err := stream.Header(); err == nil && md != nil {
		return f, nil
	}
	if f.end = stream.RecvMsg(nil); f.end == nil || f.end == io.EOF { // there is no message without a header
		f.end = io.EOF
		return f, nil
	}
	return f, answered(f.end, &f.heard)
}

// join adds an attempt that has all still to send, and reports whether all is there.
func (s *clientStream) join(f *flight, a caller.Attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone > 0 {
		return false
	}
	s.latest = a
	if s.fixed {
		a.Fix()
	}
	s.flights = append(s.flights, f)
	return true
}

// leave takes out one that has ended.
func (s *clientStream) leave(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flights = slices.DeleteFunc(s.flights, func(other *flight) bool { return other == f })
	s.trim()
	s.moved.Broadcast()
}

// discard disposes of an attempt that is not the call's.
func (s *clientStream) discard(f *flight, held caller.Held) {
	held.Release()
	if f != nil {
		s.leave(f)
	}
}

// pump sends for an attempt what its user sends, until it has ended, or has won and has
// caught up.
func (s *clientStream) pump(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f.sendErr == nil {
		for s.underWay(f) && !s.decided && f.next == s.gone+len(s.log) {
			s.moved.Wait()
		}
		if !s.underWay(f) || f.next == s.gone+len(s.log) {
			break
		}
		what := s.log[f.next-s.gone]
		s.mu.Unlock()
		err := f.send(what)
		s.mu.Lock()
		f.next++
		f.sendErr = err
		s.trim()
		s.moved.Broadcast()
	}
	if f.sendErr != nil {
		f.next = s.gone + len(s.log) // its status says the rest
		s.trim()
	}
	f.idle = true
	s.moved.Broadcast()
}

func (s *clientStream) underWay(f *flight) bool { return slices.Contains(s.flights, f) }

func (f *flight) send(what sending) error {
	if what.end {
		return f.stream.CloseSend()
	}
	return f.stream.SendMsg(what.message)
}

// streamContext is an attempt's context in which grpc sees no limit but the user's own: a
// grpc-timeout covers all of a stream, an attempt's limit is met when the answer begins.
type streamContext struct {
	context.Context
	whole context.Context
}

// Deadline implements context.Context.
func (c streamContext) Deadline() (time.Time, bool) { return c.whole.Deadline() }

// AfterFunc spares whoever derives a context from this one a goroutine.
func (c streamContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(c.Context, f) }
