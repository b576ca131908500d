package gateway

// WithoutLedger takes the ledger away from a gateway that runs.
func (g *Gateway) WithoutLedger() { g.reserver.Use(nil) }
