package grpcgate

import (
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// heard is what an attempt was told beside its messages. It is the attempt's own, since
// several may run at once.
type heard struct {
	header, trailer metadata.MD
	peer            peer.Peer
}

// sent reports whether the attempt was given a connection, so that it may have run.
func (h *heard) sent() bool { return h.peer.Addr != nil }

// says returns the first value of that name, in the trailer or the header.
func (h *heard) says(name string) string {
	if v := h.trailer.Get(name); len(v) > 0 {
		return v[0]
	}
	return first(h.header.Get(name))
}

// listeners are the options of a call by which its caller hears of its answer, taken from
// among the others: each attempt would else tell them.
type listeners struct {
	rest    []grpc.CallOption
	header  []*metadata.MD
	trailer []*metadata.MD
	peer    []*peer.Peer
	finish  []func(error)
}

func listenersOf(opts []grpc.CallOption) (l listeners) {
	l.rest = make([]grpc.CallOption, 0, len(opts)+3)
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			l.header = append(l.header, o.HeaderAddr)
		case grpc.TrailerCallOption:
			l.trailer = append(l.trailer, o.TrailerAddr)
		case grpc.PeerCallOption:
			l.peer = append(l.peer, o.PeerAddr)
		case grpc.OnFinishCallOption:
			l.finish = append(l.finish, o.OnFinish)
		default:
			l.rest = append(l.rest, o)
		}
	}
	return l
}

// options returns those of an attempt, which is heard in h.
func (l *listeners) options(h *heard) []grpc.CallOption {
	return append(slices.Clip(l.rest), grpc.Header(&h.header), grpc.Trailer(&h.trailer), grpc.Peer(&h.peer))
}

// tell tells of the attempt that the call ended with, and of its end.
func (l *listeners) tell(h *heard, err error) {
	l.hear(h)
	l.ended(err)
}

// hear hands over what the attempt was told.
func (l *listeners) hear(h *heard) {
	for _, at := range l.header {
		*at = h.header
	}
	for _, at := range l.trailer {
		*at = h.trailer
	}
	for _, at := range l.peer {
		*at = h.peer
	}
}

// ended tells only that the call has ended.
func (l *listeners) ended(err error) {
	for _, f := range l.finish {
		f(err)
	}
}
