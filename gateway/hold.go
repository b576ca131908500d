package gateway

import (
	"sync"

	"github.com/spillway-dev/spillway/gateway/wire"
)

// hold is an exchange's hold on the connection of a plain call. Others may reach
// for the connection through it (the gate at the deadline, the caller's leaving, a
// timer) and find nothing once it is somebody else's.
type hold struct {
	mu    sync.Mutex
	conn  *wire.Conn
	armed bool // the request is being sent, or the answer waited for
	fired bool // and that was interrupted
}

// take begins to hold a connection, and lets interrupt have an effect.
func (h *hold) take(c *wire.Conn) {
	h.mu.Lock()
	h.conn, h.armed = c, true
	h.mu.Unlock()
}

// interrupt ends the waiting for the answer, if it has not ended.
func (h *hold) interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.armed && h.conn != nil {
		h.fired = true
		h.conn.Interrupt()
	}
}

// disarm ends the time in which interrupt has an effect, and undoes what it had.
func (h *hold) disarm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = false
	if h.fired {
		h.fired = false
		h.conn.Resume()
	}
}

// cut closes the connection under whatever runs on it.
func (h *hold) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil {
		h.conn.Cut()
	}
}

// Close gives the connection up.
func (h *hold) Close() error {
	h.mu.Lock()
	c := h.conn
	h.conn = nil
	h.mu.Unlock()
	if c != nil {
		return c.Close()
	}
	return nil
}

// whole reports whether all that there is to read has come. It is for the holder.
func (h *hold) whole() bool { return h.conn != nil && h.conn.Whole() }

// Read implements io.Reader, for the flow that the answer's body is.
func (h *hold) Read(p []byte) (int, error) { return h.conn.Read(p) }
