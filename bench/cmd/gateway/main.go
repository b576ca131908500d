package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gateway: ")
	file := flag.String("c", "", "configuration file")
	flag.Parse()
	if err := serve(*file); err != nil {
		log.Fatal(err)
	}
}

func serve(file string) error {
	cfg, err := config.Load(file)
	if err != nil {
		return err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g, err := gateway.New(cfg, gateway.Options{
		Listener: front, AdminListener: admin,
		Logger:     slog.New(slog.NewTextHandler(io.Discard, nil)),
		DrainLimit: time.Second,
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Println("listening", front.Addr())
	return g.Serve(ctx)
}
