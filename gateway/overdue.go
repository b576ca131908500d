package gateway

import (
	"context"
	"sync/atomic"

	"github.com/spillway-dev/spillway/gate"
)

// overdue is where the gate tells an exchange that its deadline passed. It is
// all that is made before a request is admitted.
type overdue struct {
	late  atomic.Pointer[gate.Refusal]            // set when the deadline has passed
	bell  atomic.Pointer[chan struct{}]           // rung then; room for one
	cut   atomic.Pointer[context.CancelCauseFunc] // of a call that ends then
	plain atomic.Pointer[hold]                    // of a call that is no longer waited for then
}

// tell is called by the gate. It never blocks.
func (o *overdue) tell(r gate.Refusal) {
	o.late.Store(&r)
	o.ring()
	if h := o.plain.Load(); h != nil {
		h.interrupt()
	}
	if cut := o.cut.Load(); cut != nil {
		(*cut)(errAnswered)
	}
}

// listen has the bell rung when the deadline passes, or at once if it has.
func (o *overdue) listen(bell *chan struct{}) {
	o.bell.Store(bell)
	if o.late.Load() != nil {
		o.ring()
	}
}

func (o *overdue) ring() {
	if bell := o.bell.Load(); bell != nil {
		select {
		case *bell <- struct{}{}:
		default:
		}
	}
}
