package grpcgate

import (
	"context"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/spillway-dev/spillway/gate/caller"
)

// attempted is a unary attempt that has ended.
type attempted struct {
	heard
	reply any
	err   error
}

func (c *client) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	d := c.choose(ctx, method)
	if d == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	ask := c.ask(ctx, method)
	fresh := func() any { return reply } // attempts follow each other
	if d.Repeats() && (ask.Idempotent || ask.Keyed) {
		if fresh = freshOf(reply); fresh == nil {
			fresh, ask.Fixed = func() any { return reply }, true
		} else if m, ok := req.(proto.Message); ok {
			req = proto.Clone(m) // the caller's own is his again while a hedge that lost may still be written
		}
	}
	to := listenersOf(opts)
	x, err := caller.Do(ctx, d, ask, func(ctx context.Context, a caller.Attempt) (*attempted, error) {
		x := &attempted{reply: fresh()}
		x.err = invoke(c.announce(ctx, a, ask.Keyed, false), method, req, x.reply, cc, to.options(&x.heard)...)
		return x, answered(x.err, &x.heard)
	})
	if x == nil {
		x = new(attempted)
	}
	if err != nil {
		err = ended(err, x.err)
	} else if err = x.err; err == nil {
		take(reply, x.reply)
	}
	to.tell(&x.heard, err)
	return err
}

// freshOf returns what makes a reply of the same type, or nil if there is no way to hand
// one's content over.
func freshOf(reply any) func() any {
	if m, ok := reply.(proto.Message); ok {
		kind := m.ProtoReflect().Type() // the caller's reply itself is the winner's by the time a hedge begins
		return func() any { return kind.New().Interface() }
	}
	if t := reflect.TypeOf(reply); t != nil && t.Kind() == reflect.Pointer {
		return func() any { return reflect.New(t.Elem()).Interface() }
	}
	return nil
}

// take makes the content of the winner's reply that of the caller's.
func take(reply, winner any) {
	if reply == winner {
		return
	}
	if m, ok := reply.(proto.Message); ok {
		proto.Reset(m)
		proto.Merge(m, winner.(proto.Message))
		return
	}
	reflect.ValueOf(reply).Elem().Set(reflect.ValueOf(winner).Elem())
}
