package main

import (
	"context"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/grpcgate"
)

func main() {
	l, err := net.Listen("tcp", "localhost:8081")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(newServer().Serve(l))
}

func newServer() *grpc.Server {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "hello",
		Pool: gate.Pool{Slots: 4, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	tenant := grpcgate.Tenant(grpcgate.Metadata("x-tenant"))
	s := grpc.NewServer(
		grpc.ChainUnaryInterceptor(grpcgate.UnaryServerInterceptor(g, tenant)),
		grpc.ChainStreamInterceptor(grpcgate.StreamServerInterceptor(g, tenant)),
		grpc.StatsHandler(grpcgate.StatsHandler()),
	)
	s.RegisterService(&greeterDesc, greeter{})
	healthpb.RegisterHealthServer(s, health.NewServer()) // answers whatever the load
	return s
}

type greeter struct{}

func (greeter) Hello(_ context.Context, name *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
	time.Sleep(100 * time.Millisecond) // the work
	return wrapperspb.String("hello " + name.Value), nil
}
