package grpcgate_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
)

// A handler behind a gate, and what a caller gets who is one too many.
func ExampleUnaryServerInterceptor() {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "checkout",
		Pool: gate.Pool{Slots: 1, Latency: 100 * time.Millisecond, Service: 100 * time.Millisecond},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	protect := grpcgate.UnaryServerInterceptor(g, grpcgate.Tenant(grpcgate.Metadata("x-tenant")))
	// In a server: grpc.NewServer(grpc.ChainUnaryInterceptor(protect))

	call := func(handler grpc.UnaryHandler) error {
		_, err := protect(context.Background(), nil, &grpc.UnaryServerInfo{FullMethod: "/shop.Checkout/Pay"}, handler)
		return err
	}
	first := call(func(context.Context, any) (any, error) {
		second := call(nil) // while the first holds the slot
		fmt.Println(status.Code(second), "-", status.Convert(second).Message())
		return nil, nil
	})
	fmt.Println(status.Code(first))
	// Output:
	// Unavailable - The service is at its capacity and its waiting room is full; come back after retry-after.
	// OK
}
