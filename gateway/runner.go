package gateway

import "sync"

// runnersIdle is how many runners are kept parked. It bounds what a burst
// leaves behind: a goroutine and its stack each, 8 to 16 KiB.
const runnersIdle = 256

// runner is a goroutine that makes calls, one at a time. A call needs one of
// its own because it may outlive its handler. Making a goroutine for each would
// cost more than all else that the gateway does: its stack starts small and is
// copied twice before a request is on its way. So runners are used again, as
// long as nobody from the last exchange can speak to them any more.
type runner struct {
	todo chan *exchange // closed when it is to end
	came chan answer    // to the handler; room for one
	bell chan struct{}  // the exchange's deadline passed; room for one
}

// run makes calls and hands their answers over. An answer that nobody waits
// for it keeps, and ends with it.
func (r *runner) run() {
	for x := range r.todo {
		a := x.class.upstream.call(x)
		if !x.state.CompareAndSwap(calling, answered) {
			x.settle(a)
			return
		}
		r.came <- a
	}
}

// dismiss ends a runner that makes no call.
func (r *runner) dismiss() { close(r.todo) }

// runners are those that are parked. There are never more at work than there
// are slots.
type runners struct {
	mu     sync.Mutex
	idle   []*runner // the one parked last is taken first: its stack is warm
	closed bool
}

// get returns a runner that is the caller's alone.
func (p *runners) get() *runner {
	p.mu.Lock()
	if n := len(p.idle) - 1; n >= 0 {
		r := p.idle[n]
		p.idle[n] = nil
		p.idle = p.idle[:n]
		p.mu.Unlock()
		return r
	}
	p.mu.Unlock()
	r := &runner{todo: make(chan *exchange, 1), came: make(chan answer, 1), bell: make(chan struct{}, 1)}
	go r.run()
	return r
}

// put parks a runner whose answer was taken in time: from then on the gate
// rings no more.
func (p *runners) put(r *runner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= runnersIdle {
		r.dismiss()
		return
	}
	p.idle = append(p.idle, r)
}

// close ends those that are parked, and all others when they are.
func (p *runners) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, r := range p.idle {
		r.dismiss()
	}
	p.idle = nil
}
