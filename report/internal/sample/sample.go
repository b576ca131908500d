package sample

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

const seconds = 30

// Overload is half a minute of a service at twice its capacity from the tenth
// second to the twentieth: checkout waits and refuses, search steps down to its
// rungs, analytics is dropped.
func Overload() *report.Report {
	c := report.NewCollector(report.Options{For: seconds * time.Second, Rungs: []string{"primary", "cache", "cheap_list", "static"}})
	tenants := []string{"acme", "globex", "initech"}
	service{class: "checkout", slots: 40, hold: 100e6, bound: 80, rate: 300, peak: 800,
		full: reason.QueueFull, tenants: tenants, limited: "globex"}.run(c)
	service{class: "search", slots: 8, hold: 20e6, bound: 20, rate: 300, peak: 700,
		full: reason.ShedForLoad, tenants: tenants, ladder: []string{"cache", "cheap_list", "static"}}.run(c)
	service{class: "analytics", slots: 2, hold: 50e6, bound: 4, rate: 30, peak: 400,
		full: reason.Dropped, tenants: []string{"acme"}}.run(c)
	return c.Report(about("spillway sim -c spillway.yaml --rate 630:10s,1900:10s,630:10s --seed 7 --report out.html"))
}

// Calm is a run in which everything was served in full.
func Calm() *report.Report {
	c := report.NewCollector(report.Options{For: seconds * time.Second})
	service{class: "app", slots: 40, hold: 100e6, bound: 80, rate: 120, peak: 120, tenants: []string{"one"}}.run(c)
	return c.Report(about("spillway sim -c spillway.yaml --rate 120"))
}

// Many is a run of n classes and as many tenants.
func Many(n int) *report.Report {
	c := report.NewCollector(report.Options{For: seconds * time.Second})
	for i := range n {
		service{class: fmt.Sprintf("class-%02d", i), slots: 1 + i%4, hold: 100e6, bound: 3, rate: 12, peak: 12 + i%30,
			full: reason.QueueFull, tenants: []string{fmt.Sprintf("tenant-%02d", i)}}.run(c)
	}
	return c.Report(about("spillway sim -c many.yaml"))
}

func about(command string) report.About {
	return report.About{Mode: "virtual", Seed: 7, Meta: report.Meta{
		Version: "v0.1.0", Command: command, ConfigDigest: report.Digest([]byte("sample"))}}
}

type service struct {
	class      string
	slots      int
	hold       int64 // ns, plus or minus half of it
	bound      int64 // of the waiting room
	rate, peak int   // offered a second, and from a third to two thirds
	full       reason.Reason
	tenants    []string
	limited    string   // a tenant over its own limit
	ladder     []string // taken in turn where there is no room
}

// run serves first come, first served; each slot is the instant it is free at.
func (s service) run(c *report.Collector) {
	class := c.Class(s.class)
	class.Slots(0, s.slots)
	class.Capacity(0, float64(s.slots)*1e9/float64(s.hold))
	free := make([]int64, s.slots)
	state := uint64(len(s.class)) * 7919
	roll := func(n int64) int64 {
		state = state*6364136223846793005 + 1442695040888963407
		return int64(state>>33) % n
	}
	var now int64
	for i := 0; ; i++ {
		rate := int64(s.rate)
		if now >= seconds*1e9/3 && now < seconds*2e9/3 {
			rate = int64(s.peak)
		}
		now += roll(2*1e9/rate) + 1
		if now >= seconds*1e9 {
			return
		}
		tenant := s.tenants[int(roll(10))*len(s.tenants)/10]
		t := c.Tally(s.class, tenant)
		t.Offered(now)
		if tenant == s.limited && roll(8) == 0 {
			t.Done(report.Outcome{At: now, Latency: 9_000 + roll(5_000), Rung: report.NoRung, Reason: reason.RateLimited})
			continue
		}
		slot := 0
		for j := range free {
			if free[j] < free[slot] {
				slot = j
			}
		}
		wait := max(0, free[slot]-now)
		if wait > s.bound*s.hold/int64(s.slots) {
			s.turnAway(c, t, now, i, roll(8_000))
			continue
		}
		hold := s.hold/2 + roll(s.hold)
		free[slot] = now + wait + hold
		s.serve(t, now, wait, hold, roll(500))
	}
}

func (s service) turnAway(c *report.Collector, t *report.Tally, now int64, i int, jitter int64) {
	o := report.Outcome{At: now, Latency: 8_000 + jitter, Rung: report.NoRung, Reason: s.full}
	if len(s.ladder) > 0 {
		o.Rung = c.Rung(s.ladder[i%len(s.ladder)])
	}
	t.Done(o)
}

// serve ends what fits into the run; the rest is waiting or running at its end.
func (s service) serve(t *report.Tally, now, wait, hold, dice int64) {
	if now+wait >= seconds*1e9 {
		return
	}
	t.Started(now+wait, wait)
	if now+wait+hold >= seconds*1e9 {
		return
	}
	t.Held(now+wait+hold, hold)
	o := report.Outcome{At: now + wait + hold, Latency: wait + hold, Reason: reason.Served, Started: true, InDeadline: true, Calls: 1}
	switch dice {
	case 0:
		o.Rung, o.Reason = report.NoRung, reason.Timeout
	case 1, 2:
		o.Rung, o.Reason = report.NoRung, reason.Unknown
	}
	t.Done(o)
}
