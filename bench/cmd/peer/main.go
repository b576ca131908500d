package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/engine"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("peer: ")
	if len(os.Args) < 2 {
		log.Fatal("name one of upstream, proxy, refuse")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on")
	slots := flags.Int("slots", 0, "upstream: how many requests it works on at once; 0: all")
	service := flags.Duration("service", 0, "upstream: how long it works on one")
	spread := flags.Duration("spread", 0, "upstream: by how much that varies to either side, evenly")
	target := flags.String("upstream", "", "proxy: where to")
	as := flags.String("as", "tuned", "proxy: tuned, or gateway")
	_ = flags.Parse(os.Args[2:])

	var handler http.Handler
	serve := func(l net.Listener) error {
		return (&http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}).Serve(l)
	}
	switch os.Args[1] {
	case "upstream":
		handler = newUpstream(*slots, *service, *spread)
	case "proxy":
		to, err := url.Parse(*target)
		if err != nil || to.Host == "" {
			log.Fatalf("-upstream %q: write it like http://127.0.0.1:9001", *target)
		}
		switch *as {
		case "tuned":
			handler = engine.Tuned(to)
		case "gateway":
			serve = func(l net.Listener) error { return engine.Gateway(l, to) }
		default:
			log.Fatalf("-as %q is not one of tuned, gateway", *as)
		}
	case "refuse":
		handler = http.HandlerFunc(refuse)
	default:
		log.Fatalf("%q is not one of upstream, proxy, refuse", os.Args[1])
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", l.Addr())
	log.Fatal(serve(l))
}

func refuse(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte("no\n"))
}
