package observe

import (
	"sync"
	"sync/atomic"
)

// Provider is what is counted of the calls of an upstream that is a provider. It is
// safe for concurrent use.
type Provider struct {
	Upstream string
	// Refused is how often it has refused to be asked for usage in a stream.
	Refused atomic.Int64

	mu      sync.Mutex
	settled map[string]*ProviderState
	trouble [6]int64 // by the first digit of the status
}

// ProviderState is what came of calls of which as much is known.
type ProviderState struct{ Calls, Failed, Input, Output int64 }

// Settled counts a call of which so much is known: one of a closed set of words.
func (p *Provider) Settled(state string, input, output int64, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.settled[state]
	if s == nil {
		if p.settled == nil {
			p.settled = make(map[string]*ProviderState)
		}
		s = new(ProviderState)
		p.settled[state] = s
	}
	s.Calls++
	s.Input += input
	s.Output += output
	if failed {
		s.Failed++
	}
}

// Trouble counts an answer that was no success.
func (p *Provider) Trouble(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble[min(max(status/100, 0), 5)]++
}

// States returns what came of calls, by how much is known.
func (p *Provider) States() map[string]ProviderState {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]ProviderState, len(p.settled))
	for name, s := range p.settled { // into a map
		all[name] = *s
	}
	return all
}
