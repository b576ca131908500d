package gate

// ClientsForgotten returns how many clients were forgotten before their bucket
// was full: each may have had one burst more than its limit allows.
func (g *Gate) ClientsForgotten() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.ClientsForgotten()
}
