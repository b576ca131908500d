package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// What protoc-gen-go-grpc would write for
//
//	service Greeter { rpc Hello(google.protobuf.StringValue) returns (google.protobuf.StringValue); }

const methodHello = "/example.Greeter/Hello"

type greeterServer interface {
	Hello(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error)
}

var greeterDesc = grpc.ServiceDesc{
	ServiceName: "example.Greeter", HandlerType: (*greeterServer)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Hello", Handler: hello}},
}

func hello(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
	name := new(wrapperspb.StringValue)
	if err := decode(name); err != nil {
		return nil, err
	}
	call := func(ctx context.Context, name any) (any, error) {
		return srv.(greeterServer).Hello(ctx, name.(*wrapperspb.StringValue))
	}
	if intercept == nil {
		return call(ctx, name)
	}
	return intercept(ctx, name, &grpc.UnaryServerInfo{Server: srv, FullMethod: methodHello}, call)
}
