//go:build unix

package wire

// alive reports whether an idle connection is still open. Whatever there is to
// read on it, the end or bytes that nobody asked for, it is of no more use.
func (c *Conn) alive() bool {
	if c.br.Buffered() > 0 || c.raw == nil {
		return c.br.Buffered() == 0
	}
	c.quiet = false
	return c.raw.Read(c.peek) == nil && c.quiet
}
