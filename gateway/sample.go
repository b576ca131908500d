package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/gateway/compare"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/reason"
)

// sample is a request that the primary serves and of which a cheaper rung's answer is
// compared with the primary's, once that is out. A nil sample is none. It has one
// owner, and ends with Gateway.compare.
type sample struct {
	of     *learning
	bucket string
	mine   compare.Answer
	other  compare.Answer
	whole  bool // the primary's answer has come to its end
	over   bool // it is too large
}

// sampled returns the sample that a request is to be, or nil: nearly always. Of the
// primary's answer only the header is there.
func (x *exchange) sampled(a *rungs.Ask, status int, h http.Header, length int64) *sample {
	l := x.class.learning
	if l == nil || x.bucket == noBucket || !l.fits(x.in, status, h, length) || !gap.Sampled(l.how.Seed, l.served.Add(1), l.how.Share) {
		return nil
	}
	running := l.running.Add(1)
	if !gap.Spare(x.class.load(), gap.Load{}, int(running-1), l.cfg.AtOnce) {
		l.running.Add(-1)
		l.unspared.Add(1)
		return nil
	}
	s := &sample{of: l, bucket: x.bucket, mine: compare.Answer{Status: status, Coding: h.Get("Content-Encoding")}}
	standin, _, ok := x.class.ladder.Find(a, reason.ShedForLoad)
	if !ok {
		l.unanswered.Add(1)
		s.end()
		return nil
	}
	s.other = standinAnswer(&standin)
	return s
}

// fits reports whether a request and what is known of its answer can be compared at
// all.
func (l *learning) fits(r *http.Request, status int, h http.Header, length int64) bool {
	return status >= 200 && status < 300 && status != http.StatusPartialContent &&
		length <= int64(l.cfg.Body) && slices.Contains(l.cfg.Method, r.Method) &&
		!strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// load is how busy the class is besides the request that asks.
func (c *class) load() gap.Load {
	s := c.gate.State(c.index)
	return gap.Load{Slots: s.Slots, Used: max(s.Used-1, 0), Waiting: s.Waiting + s.Blocked}
}

// write takes down a piece of the primary's answer.
func (s *sample) write(p []byte) {
	switch {
	case s == nil || s.over:
	case int64(len(s.mine.Body)+len(p)) > int64(s.of.cfg.Body):
		s.over, s.mine.Body = true, nil
	default:
		s.mine.Body = append(s.mine.Body, p...)
	}
}

// done notes that it has come to its end.
func (s *sample) done() {
	if s != nil {
		s.whole = true
	}
}

// end gives its place up.
func (s *sample) end() { s.of.running.Add(-1) }

// compare compares the two answers, where there are two, when the caller has its own.
func (g *Gateway) compare(s *sample) {
	switch {
	case s == nil:
	case !s.whole || s.over:
		s.end()
	default:
		g.flights.Add(1) // the handler's own is still counted: never from zero
		go func() {
			defer g.flights.Done()
			defer s.end()
			s.compare()
		}()
	}
}

func (s *sample) compare() {
	distance, ok := s.of.compare.Distance(s.mine, s.other)
	if !ok {
		s.of.unlike.Add(1)
		return
	}
	s.of.record(s.bucket, distance)
}

func standinAnswer(s *rungs.Standin) compare.Answer {
	status, coding, body := s.Answer()
	return compare.Answer{Status: status, Coding: coding, Body: body}
}
