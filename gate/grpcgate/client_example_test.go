package grpcgate_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/grpcgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// A client of a service that is broken at first.
func ExampleUnaryClient() {
	catalog, err := caller.New(call.Policy{Timeout: 10 * time.Second, Retries: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	interceptor := grpcgate.UnaryClient(catalog, grpcgate.Idempotent("/shop.Catalog/Get*"))
	// In a client: grpc.NewClient(target, grpc.WithChainUnaryInterceptor(interceptor), grpc.WithDisableRetry())

	attempts := 0
	service := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		if attempts++; attempts == 1 {
			return status.Error(codes.Internal, "broken")
		}
		return nil
	}
	var reply text
	err = interceptor(context.Background(), "/shop.Catalog/GetPrice", new(text), &reply, nil, service)
	fmt.Println(status.Code(err), "after", attempts, "attempts")
	// Output: OK after 2 attempts
}
