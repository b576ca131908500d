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
	second *second // by which the other is to be had; nil: it is there
	whole  bool    // the primary's answer has come to its end
	over   bool    // it is too large
}

// sampled returns the sample that a request is to be, or nil: nearly always. Of the
// primary's answer only the header is there.
func (x *exchange) sampled(a *rungs.Ask, status int, h http.Header, length int64) *sample {
	l := x.class.learning
	if l == nil || x.bucket == noBucket || !l.fits(x.in, status, h, length) || !gap.Sampled(l.how.Seed, l.served.Add(1), l.how.Share) {
		return nil
	}
	s := &sample{of: l, bucket: x.bucket, mine: compare.Answer{Status: status, Coding: h.Get("Content-Encoding")}}
	rung, ok := s.seek(x, a)
	running := l.running.Add(1)
	switch {
	case !ok:
	case !gap.Spare(x.class.load(), rung, int(running-1), l.cfg.AtOnce):
		l.unspared.Add(1)
	default:
		return s
	}
	s.end()
	return nil
}

// seek finds what the primary's answer is compared with: what a request is told that
// is shed for load. It returns how busy that is, and false if there is nothing.
func (s *sample) seek(x *exchange, a *rungs.Ask) (gap.Load, bool) {
	within := x.class.cfg.Deadline.D()
	way := x.class.ladder.Descend(reason.ShedForLoad, within)
	standin, found := x.class.ladder.Seek(a, &way, within)
	switch found {
	case rungs.Answer:
		s.other = standinAnswer(&standin)
		return gap.Load{}, true
	case rungs.Elsewhere:
		if s.second = x.again(x.class.ladder.asks[way.Step.Rung], int64(s.of.cfg.Body)); s.second != nil {
			return s.second.load(), true
		}
		s.of.unlike.Add(1)
	default:
		s.of.unanswered.Add(1)
	}
	return gap.Load{}, false
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
	case s.second != nil && !s.second.take():
		s.of.unlike.Add(1)
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
	if s.second != nil {
		var ok bool
		if !gap.Spare(gap.Load{}, s.second.load(), 0, 1) { // as long as the answer took, it may have filled
			s.of.unspared.Add(1)
			return
		}
		if s.other, ok = s.second.answer(); !ok {
			s.of.unanswered.Add(1)
			return
		}
	}
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
