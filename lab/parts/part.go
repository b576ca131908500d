package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Part is what a process does in a round of a lab whose rounds are told as S.
type Part[S any] interface {
	// Open makes ready and returns where the part listens, if it does. peer is where
	// the part before it does.
	Open(spec S, peer string) (address string, err error)
	// Begin is told when the round starts, before it does.
	Begin(Clock)
	// End waits for what is under way and returns what there is to tell.
	End() any
	// Broken is sent what makes it impossible to go on.
	Broken() <-chan error
}

// Trouble is what makes it impossible for a part to go on, the first of it. Safe for
// concurrent use.
type Trouble struct{ first chan error }

// NewTrouble returns one that has not come yet.
func NewTrouble() Trouble { return Trouble{make(chan error, 1)} }

// Broken implements Part.
func (t Trouble) Broken() <-chan error { return t.first }

// Fail says that the part cannot go on.
func (t Trouble) Fail(err error) {
	select {
	case t.first <- err:
	default:
	}
}

var errOrphan = errors.New("whoever started this process has gone")

// spec is what a part is told first.
type spec[S any] struct {
	Spec S
	Peer string
}

// order is told to a part after that: the first when the round starts, the second
// that its result is wanted.
type order struct{ StartNs int64 }

// said is what a part says: where it can be reached when it is open, nothing when it has
// begun, then its result.
type said struct {
	Address string
	Result  json.RawMessage
	CPU     time.Duration // used since the start
}

// Serve is what a process does that was started as a part: it is told what on in, answers
// on out, and returns when the round is over, when in has been closed, or when it cannot go
// on. The process must end then, whatever goroutines are left.
func Serve[S any](name string, p Part[S], in io.Reader, out io.Writer) error {
	t := &talk[S]{Part: p, say: json.NewEncoder(out), orders: make(chan order)}
	told := json.NewDecoder(in)
	var s spec[S]
	if err := told.Decode(&s); err != nil {
		return errOrphan
	}
	go t.listen(told)
	if err := t.play(s); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// talk is a part's with whoever started it.
type talk[S any] struct {
	Part[S]
	say    *json.Encoder
	orders chan order // closed when nobody is left to give any
}

func (t *talk[S]) listen(told *json.Decoder) {
	defer close(t.orders)
	for {
		var o order
		if told.Decode(&o) != nil {
			return
		}
		t.orders <- o
	}
}

// order waits for the next.
func (t *talk[S]) order() (order, error) {
	select {
	case o, more := <-t.orders:
		if !more {
			return o, errOrphan
		}
		return o, nil
	case err := <-t.Broken():
		return order{}, err
	}
}

func (t *talk[S]) play(s spec[S]) error {
	address, err := t.Open(s.Spec, s.Peer)
	if err != nil {
		return err
	}
	if err := t.say.Encode(said{Address: address}); err != nil {
		return errOrphan
	}
	o, err := t.order()
	if err != nil {
		return err
	}
	c, used := NewClock(o.StartNs), make(chan time.Duration, 1)
	time.AfterFunc(time.Until(c.Start), func() { used <- cpuTime() })
	t.Begin(c)
	if err := t.say.Encode(said{}); err != nil {
		return errOrphan
	}
	if _, err := t.order(); err != nil {
		return err
	}
	over := make(chan any, 1)
	go func() { over <- t.End() }()
	select {
	case result := <-over:
		text, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return t.say.Encode(said{Result: text, CPU: cpuTime() - <-used})
	case err := <-t.Broken():
		return err
	case <-t.orders: // no third is given
		return errOrphan
	}
}
