package gateway

import (
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hangups notices callers that hang up while nobody reads from them. net/http
// finds out by reading, which it cannot do while a request's body has not been
// read; the kernel knows at once (EPOLLRDHUP). One epoll instance watches all
// connections, and one goroutine, parked in Go's own poller, watches it.
type hangups struct {
	poll *os.File
	done chan struct{}

	mu    sync.Mutex
	calls map[int32]func()
	next  int32
}

// newHangups returns a watcher. If the kernel lends no more descriptors it
// watches nothing, and hang-ups are noticed when they are written to.
func newHangups() *hangups {
	h := &hangups{calls: make(map[int32]func()), done: make(chan struct{})}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		close(h.done)
		return h
	}
	h.poll = os.NewFile(uintptr(fd), "epoll")
	go h.run()
	return h
}

// watch calls gone, once, when the peer of c hangs up, until the returned
// function is called. gone must not block.
func (h *hangups) watch(c net.Conn, gone func()) (stop func()) {
	raw := rawConn(c)
	if h.poll == nil || raw == nil {
		return func() {}
	}
	id := h.add(gone)
	h.control(raw, unix.EPOLL_CTL_ADD, id)
	return func() {
		h.mu.Lock()
		delete(h.calls, id)
		h.mu.Unlock()
		h.control(raw, unix.EPOLL_CTL_DEL, id)
	}
}

// watchConn is watch for as long as the connection is somebody's, or false if it
// cannot be watched.
func (h *hangups) watchConn(c net.Conn, gone func()) (stop func(), ok bool) {
	if c = below(c); h.poll == nil || rawConn(c) == nil {
		return nil, false
	}
	return h.watch(c, gone), true
}

func rawConn(c net.Conn) syscall.RawConn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

func (h *hangups) add(gone func()) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		h.next++
		if _, taken := h.calls[h.next]; !taken {
			h.calls[h.next] = gone
			return h.next
		}
	}
}

// control changes what is watched. The kernel itself forgets a connection that
// is closed, and then neither call can do harm.
func (h *hangups) control(raw syscall.RawConn, op int, id int32) {
	raw.Control(func(fd uintptr) {
		poll, err := h.poll.SyscallConn()
		if err != nil {
			return
		}
		poll.Control(func(epfd uintptr) {
			event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: id}
			unix.EpollCtl(int(epfd), op, int(fd), &event)
		})
	})
}

// run owns no state; it tells what the kernel reports until close.
func (h *hangups) run() {
	defer close(h.done)
	poll, err := h.poll.SyscallConn()
	if err != nil {
		return
	}
	events := make([]unix.EpollEvent, 64)
	for {
		n := 0
		err := poll.Read(func(epfd uintptr) bool {
			n, _ = unix.EpollWait(int(epfd), events, 0)
			return n > 0
		})
		if err != nil {
			return // closed
		}
		for _, e := range events[:max(n, 0)] {
			h.tell(e.Fd)
		}
	}
}

// tell reports a hang-up to whoever still wants to know. One whose request has
// ended since is nobody's: numbers are not used again while they are taken.
func (h *hangups) tell(id int32) {
	h.mu.Lock()
	gone := h.calls[id]
	delete(h.calls, id)
	h.mu.Unlock()
	if gone != nil {
		gone()
	}
}

// close ends the watching.
func (h *hangups) close() {
	if h.poll != nil {
		h.poll.Close()
	}
	<-h.done
}
