package grpcgate

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// UnaryServerInterceptor returns what protects unary methods with the gate; give
// it to grpc.ChainUnaryInterceptor. The package comment says how a handler fares
// behind it. It may be used by many goroutines.
func UnaryServerInterceptor(g *gate.Gate, opts ...Option) grpc.UnaryServerInterceptor {
	d := newDoor(g, opts)
	return func(ctx context.Context, message any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		m := meterOf(ctx)
		r := Request{Context: ctx, Method: info.FullMethod, Message: message, Bytes: m.bytesReceived()}
		if d.exempt(r) {
			return handler(ctx, message)
		}
		call, refused := d.enter(r, m)
		if refused.Reason != reason.None {
			return nil, refuseUnary(ctx, refused)
		}
		answer, refused, err := serveUnary(call, message, handler)
		switch {
		case refused.Reason != reason.None:
			return nil, refuseUnary(ctx, refused)
		case err != nil:
			grpc.SetTrailer(ctx, labels(err))
		default:
			grpc.SetHeader(ctx, servedMD)
		}
		return answer, err
	}
}

// serveUnary is on its own so that what the handler's goroutine shares is
// allocated for requests only that are admitted.
func serveUnary(c *call, message any, handler grpc.UnaryHandler) (any, gate.Refusal, error) {
	var answer any
	refused, err := c.serve(func() (err error) {
		answer, err = handler(c.ctx, message)
		return err
	})
	if refused.Reason != reason.None {
		return nil, refused, nil // answer is the handler's still
	}
	return answer, refused, err
}

// refuseUnary sets the trailer and returns the status. An error of SetTrailer is
// the caller having gone: nobody is left to tell.
func refuseUnary(ctx context.Context, refused gate.Refusal) error {
	st, trailer := answer(refused)
	grpc.SetTrailer(ctx, trailer)
	return st.Err()
}

// StreamServerInterceptor returns what protects streams with the gate; give it to
// grpc.ChainStreamInterceptor. A stream takes its slot when it starts, before its
// first message is read. It may be used by many goroutines.
func StreamServerInterceptor(g *gate.Gate, opts ...Option) grpc.StreamServerInterceptor {
	d := newDoor(g, opts)
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx := ss.Context()
		r := Request{Context: ctx, Method: info.FullMethod}
		if d.exempt(r) {
			return handler(srv, ss)
		}
		call, refused := d.enter(r, meterOf(ctx))
		if refused.Reason != reason.None {
			return refuseStream(ss, refused)
		}
		s := &stream{server: ss, call: call}
		refused, err := call.serve(func() error { return handler(srv, s) })
		switch {
		case refused.Reason != reason.None:
			return refuseStream(ss, refused)
		case s.labelled: // the header has said so
		case err != nil:
			ss.SetTrailer(labels(err))
		default:
			ss.SetHeader(servedMD)
		}
		return err
	}
}

func refuseStream(ss grpc.ServerStream, refused gate.Refusal) error {
	st, trailer := answer(refused)
	ss.SetTrailer(trailer)
	return st.Err()
}

// stream is a server's stream as its handler sees it: the first message or header
// begins the answer, and one that was taken from the handler is no longer written
// to nor read from.
type stream struct {
	server   grpc.ServerStream
	call     *call
	labelled bool // owned by whoever sends, of whom there may be one at a time
}

func (s *stream) Context() context.Context { return s.call.ctx }

func (s *stream) SetHeader(md metadata.MD) error {
	return s.unless(func() error { return s.server.SetHeader(md) })
}

func (s *stream) SetTrailer(md metadata.MD) {
	s.unless(func() error { s.server.SetTrailer(md); return nil })
}

func (s *stream) SendHeader(md metadata.MD) error {
	if err := s.begin(); err != nil {
		return err
	}
	return s.server.SendHeader(md)
}

func (s *stream) SendMsg(m any) error {
	if err := s.begin(); err != nil {
		return err
	}
	return s.server.SendMsg(m)
}

func (s *stream) RecvMsg(m any) error {
	if err := s.unless(func() error { return nil }); err != nil {
		return err
	}
	return s.server.RecvMsg(m)
}

// begin makes the answer the handler's, and says so in its header.
func (s *stream) begin() error {
	if !s.call.run.Begin(nil) {
		return overdueError
	}
	if !s.labelled {
		s.labelled = true
		s.server.SetHeader(servedMD) // an error is the header having gone, by grpc.SendHeader
	}
	return nil
}

// unless calls f unless the answer has been taken from the handler.
func (s *stream) unless(f func() error) error {
	err := overdueError
	s.call.run.Unless(func(bool) { err = f() })
	return err
}
