package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/bench/internal/table"
	"github.com/spillway-dev/spillway/report"
)

// warmUp is offered before a case begins: connections are made, the holding
// time is known.
const warmUp = 2 * time.Second

// overloadCase offers a multiple of what the service can do to one class.
type overloadCase struct {
	service service
	factor  float64

	goodput, nominal, refused, waited, memory, lag *table.Row
}

// newOverloadCase returns the case; judged says that it has targets to meet.
func newOverloadCase(t *table.Table, s service, factor float64, judged bool) *overloadCase {
	target := func(x table.Target) table.Target {
		if !judged {
			return table.Target{}
		}
		return x
	}
	what := fmt.Sprintf("%v, %gx offered: ", s, factor)
	return &overloadCase{
		service: s, factor: factor,
		goodput: t.Row(what+"goodput / capacity", "/s", table.Ratio, target(table.AtLeast(0.97))),
		nominal: t.Row(what+"goodput / slots over service time", "/s", table.Ratio, table.Target{}),
		refused: t.Row(what+"median time to a refusal at admission", "ms", table.Value, table.AtMost(1)),
		waited:  t.Row(what+"refused after a wait, % of the offered", "%", table.Value, target(table.AtMost(1))),
		memory:  t.Row(what+"memory at the end / after a third", "MiB", table.Ratio, table.AtMost(1.25)),
		lag:     t.Row(what+"generator's lag p99", "ms", table.Value, table.Target{}),
	}
}

func (c *overloadCase) run(b bench, progress func(string, ...any)) error {
	p, err := b.start(c.service, class("all", c.service.slots, c.service))
	defer p.stop()
	if err != nil {
		return err
	}
	can, err := capacity(p.upstream.Addr, c.service, min(b.length, 5*time.Second))
	if err != nil {
		return err
	}
	all := stream{"all", c.factor * c.service.nominal()}
	if _, _, err := offer(p.gateway.Addr, warmUp, c.service.budget, 2, all); err != nil {
		return err
	}
	memory := watch(p.gateway)
	result, r, err := offer(p.gateway.Addr, b.length, c.service.budget, 1, all)
	samples := memory()
	if err != nil {
		return err
	}
	g := r.Classes["all"]
	goodput := float64(g.GoodputPerS)
	c.goodput.Add(goodput, can)
	c.nominal.Add(goodput, c.service.nominal())
	c.refused.Add(float64(g.RefusedP50Ms), 0)
	c.waited.Add(100*afterWait(g), 0)
	c.memory.Add(mebibytes(samples, 1), mebibytes(samples, 1./3))
	c.lag.Add(result.Lag.P99, 0)
	progress("%v, %gx: goodput %.0f/s of %.0f/s, %v", c.service, c.factor, goodput, can, g.Reasons)
	return nil
}

// afterWait is the share of the offered requests that waited for nothing.
func afterWait(g *report.Group) float64 {
	n := g.Reasons["expired"] + g.Reasons["evicted"] + g.Reasons["block_timeout"]
	return float64(n) / float64(max(1, g.Offered))
}

// watch samples a process's memory until the function it returns is called.
func watch(p *child.Process) func() []int64 {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan []int64, 1)
	go func() { done <- p.Watch(ctx, 100*time.Millisecond) }()
	return func() []int64 {
		cancel()
		return <-done
	}
}

// mebibytes returns the median of the tenth of the samples that ends at the
// given part of them.
func mebibytes(samples []int64, part float64) float64 {
	to := int(part * float64(len(samples)))
	var window []float64
	for _, s := range samples[max(0, to-max(1, len(samples)/10)):to] {
		window = append(window, float64(s)/(1<<20))
	}
	return table.Median(window)
}

// floodCase has checkout at 0.8 of its slots' capacity and analytics at ten
// times its own, on one service.
type floodCase struct {
	service        service
	checkout       int // slots
	p99, in, other *table.Row
}

func newFloodCase(t *table.Table, s service) *floodCase {
	return &floodCase{
		service: s, checkout: s.slots * 4 / 5,
		p99:   t.Row(fmt.Sprintf("checkout beside analytics at 10x: p99 / budget of %v", s.budget), "ms", table.Ratio, table.AtMost(1)),
		in:    t.Row("checkout beside analytics at 10x: served in full, % of the offered", "%", table.Value, table.AtLeast(99)),
		other: t.Row("analytics at 10x: goodput / its slots over service time", "/s", table.Ratio, table.Target{}),
	}
}

func (c *floodCase) run(b bench, progress func(string, ...any)) error {
	rest := c.service.slots - c.checkout
	p, err := b.start(c.service, class("checkout", c.checkout, c.service)+class("analytics", rest, c.service))
	defer p.stop()
	if err != nil {
		return err
	}
	each := 1 / c.service.time.Seconds()
	streams := []stream{{"checkout", 0.8 * float64(c.checkout) * each}, {"analytics", 10 * float64(rest) * each}}
	if _, _, err := offer(p.gateway.Addr, warmUp, c.service.budget, 2, streams...); err != nil {
		return err
	}
	_, r, err := offer(p.gateway.Addr, b.length, c.service.budget, 1, streams...)
	if err != nil {
		return err
	}
	checkout, analytics := r.Classes["checkout"], r.Classes["analytics"]
	c.p99.Add(float64(checkout.P99Ms), c.service.budget.Seconds()*1000)
	c.in.Add(100*float64(checkout.Reasons["served"])/float64(max(1, checkout.Offered)), 0)
	c.other.Add(float64(analytics.GoodputPerS), float64(rest)*each)
	progress("flood: checkout p99 %.1f ms, %v; analytics %v", float64(checkout.P99Ms), checkout.Reasons, analytics.Reasons)
	return nil
}
