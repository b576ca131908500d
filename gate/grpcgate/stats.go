package grpcgate

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"

	"github.com/spillway-dev/spillway/gate/internal/handling"
)

// StatsHandler measures for the interceptors what they cannot see, and decides
// nothing; give it to grpc.StatsHandler. The package comment says what for. It
// serves any number of servers and gates, and may be used by many goroutines.
func StatsHandler() stats.Handler { return measurer{} }

type measurer struct{}

// meter is what is measured of one request.
type meter struct {
	received, sent atomic.Int64 // bytes of messages, uncompressed
	run            atomic.Pointer[handling.Run]
}

type meterKey struct{}

// meterOf returns the request's meter, or nil without a StatsHandler.
func meterOf(ctx context.Context) *meter {
	m, _ := ctx.Value(meterKey{}).(*meter)
	return m
}

func (measurer) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, meterKey{}, new(meter))
}

// HandleRPC counts messages, and sees an answer begin that was sent past the
// stream, by grpc.SendHeader. It may be called with the transport's locks held.
func (measurer) HandleRPC(ctx context.Context, s stats.RPCStats) {
	m := meterOf(ctx)
	if m == nil {
		return
	}
	switch s := s.(type) {
	case *stats.InPayload:
		m.received.Add(int64(s.Length))
	case *stats.OutPayload:
		m.sent.Add(int64(s.Length))
	case *stats.OutHeader:
		if run := m.run.Load(); run != nil {
			run.Begin(nil)
		}
	}
}

func (measurer) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (measurer) HandleConn(context.Context, stats.ConnStats) {}

// watch has the meter tell the run of an answer that begins. Without a meter
// there is none to tell.
func (m *meter) watch(run *handling.Run) {
	if m != nil {
		m.run.Store(run)
	}
}

func (m *meter) bytesReceived() int64 {
	if m == nil {
		return 0
	}
	return m.received.Load()
}

func (m *meter) bytes() int64 {
	if m == nil {
		return 0
	}
	return m.received.Load() + m.sent.Load()
}
