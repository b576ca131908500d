package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How sockets are left to a process. systemd's are in sd_listen_fds(3); ours are
// a list of names and where they begin.
const (
	envListenPID   = "LISTEN_PID"
	envListenFDs   = "LISTEN_FDS"
	envListenNames = "LISTEN_FDNAMES"
	envInherited   = "SPILLWAY_INHERITED"

	firstInherited = 3   // stdin, stdout and stderr come before
	mostInherited  = 256 // more is a mistake, and not worth the memory
)

// Sockets hands out listening sockets: those that were left to this process, and
// new ones. It may be used by several goroutines.
type Sockets struct {
	mu    sync.Mutex
	left  []named // to this process, and not asked for yet
	open  []named // handed out: what a successor gets
	ready *os.File
	state *os.File // nil: the process before this one hands on no more than its sockets
}

// named is a socket and the address it was asked for by.
type named struct {
	name string // as Address.String
	file *os.File
}

// inheritance is what one process tells the next in envInherited. Descriptor 3 is
// the pipe on which it is told that its successor is ready, the sockets follow, and
// last, if State says so, the pipe on which it tells what it knows.
type inheritance struct {
	PID   int      `json:"pid"` // of the process that leaves
	Names []string `json:"names"`
	State bool     `json:"state,omitempty"`
}

// Inherit takes the sockets that systemd or the process before this one left to
// it, and removes from the environment what told of them, so that no child takes
// them for its own. It is called once, before anything is listened on.
func Inherit() (*Sockets, error) {
	defer func() {
		for _, name := range []string{envListenPID, envListenFDs, envListenNames, envInherited} {
			os.Unsetenv(name)
		}
	}()
	s := new(Sockets)
	if text := os.Getenv(envInherited); text != "" {
		var from inheritance
		if err := json.Unmarshal([]byte(text), &from); err != nil || len(from.Names) > mostInherited {
			return nil, fmt.Errorf("%s is malformed: it is set by a process for its successor, and by nobody else", envInherited)
		}
		if from.PID != os.Getppid() {
			return s, nil // a grandchild's: the descriptors are not there
		}
		s.ready = os.NewFile(firstInherited, "ready")
		closeOnExec(firstInherited)
		s.adopt(firstInherited+1, from.Names)
		if from.State {
			s.state = pipeOf(firstInherited+1+len(from.Names), "state")
		}
		return s, nil
	}
	n, err := strconv.Atoi(os.Getenv(envListenFDs))
	if pid := os.Getenv(envListenPID); err != nil || n <= 0 || pid != strconv.Itoa(os.Getpid()) {
		return s, nil
	}
	if n > mostInherited {
		return nil, fmt.Errorf("%s is %d: at most %d sockets can be passed", envListenFDs, n, mostInherited)
	}
	names := strings.Split(os.Getenv(envListenNames), ":")
	for i := range n {
		name := "unknown" // what systemd calls a socket without a name
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		s.adopt(firstInherited+i, []string{Address{"fd", name}.String()})
	}
	return s, nil
}

func (s *Sockets) adopt(first int, names []string) {
	for i, name := range names {
		closeOnExec(first + i)
		s.left = append(s.left, named{name, os.NewFile(uintptr(first+i), name)})
	}
}

// Listen returns a listener on the address: the socket that was left to this
// process for it, if there is one, else a new one. mode is for a new unix socket.
// A socket file that nobody listens on any more is replaced.
func (s *Sockets) Listen(a Address, mode fs.FileMode) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.take(a)
	if err != nil {
		return nil, err
	}
	if l == nil {
		switch a.Network {
		case "fd":
			return nil, fmt.Errorf("%s: no socket of that name was passed to this process; passed were %s. Set FileDescriptorName=%s in the .socket unit, and let systemd start the service", a, s.names(), a.Name)
		case "unix":
			l, err = listenUnix(a.Name, mode)
		default:
			l, err = net.Listen("tcp", a.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	f, err := fileOf(l)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	s.open = append(s.open, named{a.String(), f})
	return l, nil
}

// take returns the listener for a socket that was left, or nil.
func (s *Sockets) take(a Address) (net.Listener, error) {
	i := slices.IndexFunc(s.left, func(n named) bool { return n.name == a.String() })
	if i < 0 {
		return nil, nil
	}
	f := s.left[i].file
	s.left = slices.Delete(s.left, i, i+1)
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("%s: what was passed to this process is no listening socket: %w", a, err)
	}
	return l, nil
}

func (s *Sockets) names() string {
	if len(s.left) == 0 {
		return "none"
	}
	var names []string
	for _, n := range s.left {
		names = append(names, n.name)
	}
	return strings.Join(names, ", ")
}

// Unused closes the sockets that were left to this process and that nobody asked
// for, and names them.
func (s *Sockets) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, n := range s.left {
		names = append(names, n.name)
		n.file.Close()
	}
	s.left = nil
	return names
}

// Close lets go of the sockets. Listeners made of them stay open.
func (s *Sockets) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range append(s.left, s.open...) {
		n.file.Close()
	}
	s.left, s.open = nil, nil
	for _, f := range []**os.File{&s.ready, &s.state} {
		if *f != nil {
			(*f).Close()
			*f = nil
		}
	}
}

// listenUnix listens on a path. Nobody whom mode leaves out can connect at any
// moment: the socket has it before it has a name.
func listenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if e := raw.Control(func(fd uintptr) { err = chmodSocket(fd, mode) }); e != nil {
			return e
		}
		return err
	}}
	l, err := c.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode.Perm()); err != nil { // what the umask took away
		l.Close()
		return nil, err
	}
	return l, nil
}

// removeStale removes the socket file of a process that is gone.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is there and is no socket; remove it, or choose another path", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		c.Close()
		return fmt.Errorf("%s: another process listens there; end it, or choose another path", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("%s cannot be taken over: %w", path, err)
}
