package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// bench is what every case needs.
type bench struct {
	dir, peer, gateway string
	length             time.Duration
}

// pair is a service and the gateway in front of it.
type pair struct {
	upstream, gateway *child.Process
}

func (p pair) stop() {
	for _, c := range []*child.Process{p.gateway, p.upstream} {
		if c != nil {
			c.Stop()
		}
	}
}

// start starts both; the classes are YAML for below "classes:".
func (b bench) start(s service, classes string) (p pair, err error) {
	p.upstream, err = child.Start("service", nil, b.peer, "upstream", "-slots", fmt.Sprint(s.slots), "-service", s.time.String(), "-spread", s.spread.String())
	if err != nil {
		return p, err
	}
	file := filepath.Join(b.dir, "spillway.yaml")
	text := fmt.Sprintf("version: 1\nupstreams:\n  app: { url: %q }\nclasses:\n%s", "http://"+p.upstream.Addr, classes)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return p, err
	}
	p.gateway, err = child.Start("gateway", nil, b.gateway, "-c", file)
	return p, err
}

// class is a class of the configuration whose requests begin with its name.
func class(name string, slots int, s service) string {
	return fmt.Sprintf("  %s:\n    match: { path: \"/%s/*\" }\n    slots: %d\n    budget: { latency: %v, service: %v }\n    deadline: %v\n",
		name, name, slots, s.budget, s.time, s.budget)
}

// capacity is what the service does when twice as many callers as it has slots
// send as fast as they are answered, in requests a second.
func capacity(addr string, s service, length time.Duration) (float64, error) {
	callers := 2 * s.slots
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var count atomic.Int64
	var failed atomic.Pointer[error]
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := get(client, "http://"+addr+"/"); err != nil {
					failed.Store(&err)
					return
				}
				count.Add(1)
			}
		})
	}
	time.Sleep(max(200*time.Millisecond, 2*s.time)) // all slots are taken
	before, begin := count.Load(), time.Now()
	time.Sleep(length)
	done, took := count.Load()-before, time.Since(begin)
	cancel()
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done) / took.Seconds(), nil
}

func get(client *http.Client, url string) error {
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// stream is a flow of requests of one class.
type stream struct {
	class string
	rate  float64
}

// offer sends the streams for so long and returns the report.
func offer(addr string, length, deadline time.Duration, seed uint64, streams ...stream) (load.Result, *report.Report, error) {
	names := workload.NewNames()
	var sources []workload.Source
	for _, s := range streams {
		rate, err := workload.ConstantRate(s.rate)
		if err != nil {
			return load.Result{}, nil, err
		}
		source, err := workload.Spec{Seed: seed, Stream: s.class, Rate: rate, For: length, Classes: workload.Only(s.class)}.Source(names)
		if err != nil {
			return load.Result{}, nil, err
		}
		sources = append(sources, source)
	}
	result, err := load.Run(context.Background(), load.Config{
		URL: "http://" + addr + "/{{.Class}}/{{.N}}", Source: workload.Merge(sources...), Names: names,
		Timeout: 5 * time.Second, Deadline: deadline, LagBound: time.Millisecond, Warm: 512,
	})
	if err != nil {
		return result, nil, err
	}
	r := result.Collector.Report(report.About{Mode: "live", Seed: seed, Seconds: result.Elapsed.Seconds()})
	return result, r, r.Check()
}
