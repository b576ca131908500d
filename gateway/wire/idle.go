package wire

// CloseIdle closes the connections on which nothing runs. The pool is used on.
func (p *Pool) CloseIdle() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.Conn.Close()
	}
}
