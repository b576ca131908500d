package gateway_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// What may have been done is not done again: UNAVAILABLE is what a service says that is
// busy and what one says that did the work and lost its own dependency. Only the first
// has a word on asking again.
func TestGRPCIsTriedAgainWhereItDidNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		code   codes.Code
		pushed string
		want   int64
	}{
		"unavailable, it does not say why": {codes.Unavailable, "", 1},
		"exhausted, it does not say why":   {codes.ResourceExhausted, "", 1},
		"busy":                             {codes.Unavailable, "1", 3},
		"busy, never again":                {codes.Unavailable, "-1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int64
			e := &echo{say: func(ctx context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
				ran.Add(1)
				if c.pushed != "" {
					grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", c.pushed))
				}
				return nil, status.Error(c.code, "?")
			}}
			_, conn := startGRPC(t, e, "  all: { slots: 4, call: { retries: 2, retry_budget: off, backoff: off } }")
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := conn.Invoke(ctx, "/test.Echo/Say", wrapperspb.String("hi"), new(wrapperspb.StringValue))
			if status.Code(err) != c.code || ran.Load() != c.want {
				t.Errorf("%v, done %d times; want %v, %d", err, ran.Load(), c.code, c.want)
			}
		})
	}
}
