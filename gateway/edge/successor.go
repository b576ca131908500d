package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// Succeed starts path with args as this process's successor, leaves it the open
// sockets, and waits until it says that it listens. Connections wait in the
// sockets' backlogs meanwhile and are accepted by whichever process comes to it,
// so none is refused. If the successor ends, or is not ready when ctx ends, it is
// killed, an error says so, and this process is what it was.
func (s *Sockets) Succeed(ctx context.Context, path string, args []string) (pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer read.Close()
	defer write.Close()
	told := inheritance{PID: os.Getpid()}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = nil, os.Stdout, os.Stderr
	c.ExtraFiles = []*os.File{write}
	for _, n := range s.open {
		told.Names = append(told.Names, n.name)
		c.ExtraFiles = append(c.ExtraFiles, n.file)
	}
	text, err := json.Marshal(told)
	if err != nil {
		return 0, err
	}
	c.Env = append(os.Environ(), envInherited+"="+string(text))
	if err := c.Start(); err != nil {
		return 0, fmt.Errorf("the new process did not start: %w", err)
	}
	write.Close() // the only writer is the successor now: its end is seen
	if deadline, ok := ctx.Deadline(); ok {
		read.SetReadDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { read.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := read.Read(make([]byte, 1)); err != nil {
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

// Ready tells the process that left its sockets to this one that it listens. The
// other then ends. Without such a process it does nothing.
func (s *Sockets) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		return
	}
	s.ready.Write([]byte{1})
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
