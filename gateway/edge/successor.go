package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"
)

// The successor says these on the pipe that it was given, a byte each.
const (
	saysReady = 1 // it listens and serves
	asksState = 2 // it is about to; what is there to know?
)

// StateMost bounds what one process hands on to the next beside its sockets, in
// bytes, and stateTime how long that takes, in which nobody is served worse: both
// processes have the sockets.
const (
	StateMost = 16 << 20
	stateTime = 5 * time.Second
)

// Succeed starts path with args as this process's successor, leaves it the open
// sockets, and waits until it says that it listens. Connections wait in the
// sockets' backlogs meanwhile and are accepted by whichever process comes to it,
// so none is refused. Right before it is ready the successor asks for what this
// process knows, which state returns then: at most once, and not at all to a
// successor that does not ask. If the successor ends, or is not ready when ctx
// ends, it is killed, an error says so, and this process is what it was.
func (s *Sockets) Succeed(ctx context.Context, path string, args []string, state func() []byte) (pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told, tell, err := pipes()
	if err != nil {
		return 0, err
	}
	defer told.close()
	defer tell.close()
	from := inheritance{PID: os.Getpid(), State: true}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = nil, os.Stdout, os.Stderr
	c.ExtraFiles = []*os.File{told.write}
	for _, n := range s.open {
		from.Names = append(from.Names, n.name)
		c.ExtraFiles = append(c.ExtraFiles, n.file)
	}
	c.ExtraFiles = append(c.ExtraFiles, tell.read)
	text, err := json.Marshal(from)
	if err != nil {
		return 0, err
	}
	c.Env = append(os.Environ(), envInherited+"="+string(text))
	if err := c.Start(); err != nil {
		return 0, fmt.Errorf("the new process did not start: %w", err)
	}
	told.write.Close() // the only writer is the successor now: its end is seen
	tell.read.Close()
	if deadline, ok := ctx.Deadline(); ok {
		told.read.SetReadDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { told.read.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := await(told.read, tell.write, state); err != nil {
		c.Process.Kill()
		c.Wait()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, errors.New("the new process was not ready in time and was ended")
		}
		return 0, errors.New("the new process ended before it was ready; its own message says why")
	}
	go c.Wait() // it outlives this process; until then nobody else reaps it
	return c.Process.Pid, nil
}

// await returns once the successor is ready, and answers what it asks meanwhile.
func await(told, tell *os.File, state func() []byte) error {
	for asked := false; ; {
		var said [1]byte
		if _, err := told.Read(said[:]); err != nil {
			return err
		}
		switch {
		case said[0] != asksState:
			return nil
		case !asked:
			asked = true
			tell.SetWriteDeadline(time.Now().Add(stateTime))
			tell.Write(state()) // what does not arrive whole is not taken
			tell.Close()
		}
	}
}

// pipe is both ends of one.
type pipe struct{ read, write *os.File }

func (p pipe) close() {
	p.read.Close()
	p.write.Close()
}

// pipes returns two: one for each direction.
func pipes() (told, tell pipe, err error) {
	if told.read, told.write, err = os.Pipe(); err != nil {
		return told, tell, err
	}
	if tell.read, tell.write, err = os.Pipe(); err != nil {
		told.close()
	}
	return told, tell, err
}

// ErrNoState is returned by State where the process before this one hands on its
// sockets only: it is of a version that knows of nothing more.
var ErrNoState = errors.New("the process before this one hands on nothing but its sockets")

// State returns what the process that left its sockets to this one knows at this
// moment, or nil if there is no such process. It is asked for once, right before
// Ready: from then on the other changes nothing of it but by serving. The error
// says why it could not be had.
func (s *Sockets) State() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ready == nil:
		return nil, nil
	case s.state == nil:
		return nil, ErrNoState
	}
	defer func() {
		s.state.Close()
		s.state = nil
	}()
	if _, err := s.ready.Write([]byte{asksState}); err != nil {
		return nil, fmt.Errorf("the process before this one does not answer: %w", err)
	}
	s.state.SetReadDeadline(time.Now().Add(stateTime))
	text, err := io.ReadAll(io.LimitReader(s.state, StateMost+1))
	if err != nil {
		return nil, fmt.Errorf("what the process before this one knows did not arrive whole: %w", err)
	}
	if len(text) > StateMost {
		return nil, fmt.Errorf("what the process before this one knows is more than %d bytes", StateMost)
	}
	return text, nil
}

// Ready tells the process that left its sockets to this one that it listens. The
// other then ends. Without such a process it does nothing.
func (s *Sockets) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		return
	}
	s.ready.Write([]byte{saysReady})
	s.ready.Close()
	s.ready = nil
}

// Leave closes a listener whose socket goes on in another process: the file of a
// unix socket stays.
func Leave(l net.Listener) error {
	for {
		inner, ok := l.(interface{ Unwrap() net.Listener })
		if !ok {
			break
		}
		if u, ok := inner.Unwrap().(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
		l = inner.Unwrap()
	}
	return l.Close()
}
