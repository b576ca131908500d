package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The parts.
const (
	Store   = "store"
	Service = "service"
	Tester  = "tester"
)

// order is told to a part after its spec: the first when the round starts, the second
// that its result is wanted.
type order struct{ StartNs int64 }

// said is what a part says: where it can be reached when it is open, nothing when it has
// begun, then its result.
type said struct {
	Address string
	Result  json.RawMessage
	CPU     time.Duration // used since the start
}

// part is one of the three.
type part interface {
	// open makes ready and returns where the part listens, if it does.
	open(spec) (address string, err error)
	// begin is told when the round starts, a second before it does.
	begin(clock)
	// end waits for what is under way and returns what there is to tell.
	end() any
	// broken is sent what makes it impossible to go on.
	broken() <-chan error
}

// trouble is what makes it impossible for a part to go on, the first of it.
type trouble struct{ first chan error }

func newTrouble() trouble { return trouble{make(chan error, 1)} }

func (t trouble) broken() <-chan error { return t.first }

func (t trouble) fail(err error) {
	select {
	case t.first <- err:
	default:
	}
}

var errOrphan = errors.New("lab fallback: whoever started this process has gone")

// Part is what a process does that was started as a part: it is told what on in, answers
// on out, and returns when the round is over, when in has been closed, or when it cannot go
// on. The process must end then, whatever goroutines are left.
func Part(name string, in io.Reader, out io.Writer) error {
	p := map[string]part{
		Store: &storePart{trouble: newTrouble()}, Service: &servicePart{trouble: newTrouble()}, Tester: &testerPart{trouble: newTrouble()},
	}[name]
	if p == nil {
		return fmt.Errorf("part %q: it is store, service or tester, and started by spillway lab fallback --live", name)
	}
	t := &talk{part: p, say: json.NewEncoder(out), orders: make(chan order)}
	told := json.NewDecoder(in)
	var s spec
	if err := told.Decode(&s); err != nil {
		return errOrphan
	}
	s.Round.flatOut = s.FlatOut
	go t.listen(told)
	if err := t.play(s); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// talk is a part's with whoever started it.
type talk struct {
	part
	say    *json.Encoder
	orders chan order // closed when nobody is left to give any
}

func (t *talk) listen(told *json.Decoder) {
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
func (t *talk) order() (order, error) {
	select {
	case o, more := <-t.orders:
		if !more {
			return o, errOrphan
		}
		return o, nil
	case err := <-t.broken():
		return order{}, err
	}
}

func (t *talk) play(s spec) error {
	address, err := t.open(s)
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
	c, used := newClock(o.StartNs), make(chan time.Duration, 1)
	time.AfterFunc(time.Until(c.start), func() { used <- cpuTime() })
	t.begin(c)
	if err := t.say.Encode(said{}); err != nil {
		return errOrphan
	}
	if _, err := t.order(); err != nil {
		return err
	}
	over := make(chan any, 1)
	go func() { over <- t.end() }()
	select {
	case result := <-over:
		text, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return t.say.Encode(said{Result: text, CPU: cpuTime() - <-used})
	case err := <-t.broken():
		return err
	case <-t.orders: // no third is given
		return errOrphan
	}
}
