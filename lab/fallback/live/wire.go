package live

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// What the parts say to each other over TCP: values of a fixed size, little-endian.

// ask is what the tester sends to the service.
type ask struct {
	N   int64
	Due int64 // scheduled instant, ns since the round's start
}

// rung says what an answer is.
type rung uint8

const (
	primary rung = iota
	lastKnown
	byDefault
	refusal
)

// answer is what the service says. Of is the request whose features were scored, -1 for
// none.
type answer struct {
	N     int64
	Of    int64
	Score float64
	Rung  rung
}

// lookup is what the service sends to the store. Left is how long its limit is away,
// ns; less than 0: no limit goes along.
type lookup struct {
	N       int64
	Left    int64
	Attempt uint16
}

// found is what the store says.
type found struct {
	N        int64
	Features features
	Attempt  uint16
	Stopped  bool
}

// link sends values of one type and receives those of another. Many may send at the same
// time, one may receive.
type link[Out, In any] struct {
	conn net.Conn
	mu   sync.Mutex
	out  []byte
	in   []byte
}

func newLink[Out, In any](conn net.Conn) *link[Out, In] {
	return &link[Out, In]{conn: conn, in: make([]byte, binary.Size(*new(In)))}
}

func dial[Out, In any](address string) (*link[Out, In], error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return newLink[Out, In](conn), nil
}

func (l *link[Out, In]) send(v *Out) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.out, err = binary.Append(l.out[:0], binary.LittleEndian, v); err != nil {
		return fmt.Errorf("BUG: live: %w", err)
	}
	_, err = l.conn.Write(l.out)
	return err
}

func (l *link[Out, In]) receive(v *In) error {
	if _, err := io.ReadFull(l.conn, l.in); err != nil {
		return err
	}
	_, err := binary.Decode(l.in, binary.LittleEndian, v)
	return err
}

// serve hands every connection to f, on a goroutine of its own, until l is closed.
func serve[Out, In any](l net.Listener, f func(*link[Out, In])) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go f(newLink[Out, In](conn))
	}
}
