package ledger

import (
	"context"
	"fmt"
	"sync"
)

// groupMost is how many operations share a transaction at most: more do not make
// the sync cheaper for each, and make the first wait longer.
const groupMost = 256

// op is one operation. do decides and writes; its error is the store's.
type op struct {
	touches Touches
	do      func(Rows) error
	done    chan error
}

// group commits what waits at the same moment together.
type group struct {
	store Store
	ops   chan *op
	stop  chan struct{} // closed when nothing new is taken
	ended chan struct{}
	once  sync.Once
	spare sync.Pool
}

func newGroup(s Store) *group {
	g := &group{store: s, ops: make(chan *op, groupMost), stop: make(chan struct{}), ended: make(chan struct{})}
	g.spare.New = func() any { return &op{done: make(chan error, 1)} }
	go g.run()
	return g
}

// do has the operation carried out in order and returns when it is on disk. A
// caller that leaves does not undo it: it is told then that nobody knows, and finds
// out by looking. So it waits for the verdict unless the operation has not been
// taken yet.
func (g *group) do(ctx context.Context, t Touches, f func(Rows) error) error {
	o := g.spare.Get().(*op)
	o.touches, o.do = t, f
	select {
	case <-g.stop:
		return ErrUnavailable
	default:
	}
	select {
	case g.ops <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.stop:
		return ErrUnavailable
	}
	select {
	case err := <-o.done:
		o.touches, o.do = Touches{}, nil
		g.spare.Put(o)
		return err
	case <-g.ended: // or was it the last?
		select {
		case err := <-o.done:
			return err
		default:
			return ErrUnavailable
		}
	}
}

func (g *group) run() {
	defer close(g.ended)
	batch := make([]*op, 0, groupMost)
	var all Touches
	for {
		batch = batch[:0]
		all.clear()
		select {
		case o := <-g.ops:
			batch = append(batch, o)
		case <-g.stop:
			g.rest()
			return
		}
		for len(batch) < groupMost {
			select {
			case o := <-g.ops:
				batch = append(batch, o)
				continue
			default:
			}
			break
		}
		g.commit(batch, all)
	}
}

// rest carries out what was taken before the end.
func (g *group) rest() {
	for {
		select {
		case o := <-g.ops:
			g.commit([]*op{o}, Touches{})
		default:
			return
		}
	}
}

func (g *group) commit(batch []*op, all Touches) {
	for _, o := range batch {
		all.add(&o.touches)
	}
	err := g.store.Update(context.Background(), all, func(r Rows) error {
		for _, o := range batch {
			if err := o.do(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	for _, o := range batch {
		o.done <- err
	}
}

// close carries out what has been taken and ends the goroutine.
func (g *group) close() {
	g.once.Do(func() { close(g.stop) })
	<-g.ended
}

// add adds what another touches.
func (t *Touches) add(o *Touches) {
	t.Calls = append(t.Calls, o.Calls...)
	t.Budgets = append(t.Budgets, o.Budgets...)
	t.Jobs = append(t.Jobs, o.Jobs...)
	t.Keys = append(t.Keys, o.Keys...)
	t.Lines = append(t.Lines, o.Lines...)
}

// clear keeps nothing but the memory.
func (t *Touches) clear() {
	*t = Touches{t.Calls[:0], t.Budgets[:0], t.Jobs[:0], t.Keys[:0], t.Lines[:0]}
}
