package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/compare"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/reason"
)

// second is a request that is put to another upstream as well, to learn how much worse
// its answer is: in the pool in which that is asked by the ladder, so that it never has
// more to do than it may.
type second struct {
	gateway *Gateway
	class   *class // the pool
	in      *http.Request
	kept    *kept // its body, while the primary is given it; nil: it is there
	secure  bool
	within  time.Duration
	most    int64 // bytes of its answer
}

// again returns the exchange's request to be put to another upstream, or nil where its
// body is not all in memory. Nothing of it is the caller's any more.
func (x *exchange) again(pool *class, most int64) *second {
	s := &second{gateway: x.gateway, class: pool, in: x.in.Clone(context.Background()), secure: x.secure, within: x.class.cfg.Deadline.D(), most: most}
	body, held := wire.HeldBody(x.in)
	switch {
	case !held:
		s.kept, held = x.in.Body.(*kept)
	case len(body) > 0:
		s.in.Body = &wire.Held{ReadCloser: io.NopCloser(bytes.NewReader(nil)), Bytes: bytes.Clone(body)}
	}
	if !held {
		return nil
	}
	return s
}

// take takes the request's body over, now that nobody reads it any more, and reports
// whether all of it is there.
func (s *second) take() bool {
	if s.kept == nil {
		return true
	}
	again := s.kept.again(s.in)
	if again == nil || !s.kept.ended && s.in.ContentLength != 0 {
		return false
	}
	s.in, s.kept = again, nil
	return true
}

// load is how busy the pool is.
func (s *second) load() gap.Load {
	state := s.class.gate.State(s.class.index)
	return gap.Load{Slots: state.Slots, Used: state.Used, Waiting: state.Waiting + state.Blocked}
}

// answer asks for the answer, and reports whether there is one that would have stood in.
func (s *second) answer() (compare.Answer, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), s.within)
	defer cancel()
	due := new(overdue)
	at := s.class.gate.Now()
	permit, refused := s.class.gate.Enter(ctx, gate.Request{Class: s.class.index, Timeout: s.within, OnOverdue: due.tell, At: at})
	if refused.Reason != reason.None {
		return compare.Answer{}, false
	}
	w := &taken{header: make(http.Header), most: s.most}
	x := &exchange{
		gateway: s.gateway, class: s.class, w: w, in: s.in.WithContext(ctx), permit: permit, overdue: due,
		offered: at, granted: permit.Granted(), mine: true, outcome: reason.Failed, secure: s.secure,
	}
	s.serve(x)
	ok := w.status != 0 && !w.over && !rungs.Replaces(w.status) && w.header.Get(httpgate.HeaderRung) != httpgate.RungRefusal
	return compare.Answer{Status: w.status, Coding: w.header.Get("Content-Encoding"), Body: w.body}, ok
}

// serve makes the call. What would have cut a caller's connection cuts nobody's.
func (s *second) serve(x *exchange) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			s.gateway.log.Error("a call that was to be compared broke off", "class", s.class.name, "why", fmt.Sprint(v))
		}
	}()
	x.serve()
}

// taken is an answer that is written to nobody.
type taken struct {
	header http.Header
	status int
	body   []byte
	most   int64
	over   bool // it is larger
}

// Header implements http.ResponseWriter.
func (w *taken) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Informational answers are none.
func (w *taken) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter. What is too much is not kept, and read on all
// the same: the connection is of use again.
func (w *taken) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.over = w.over || int64(len(w.body)+len(p)) > w.most; w.over {
		w.body = nil
	} else {
		w.body = append(w.body, p...)
	}
	return len(p), nil
}
