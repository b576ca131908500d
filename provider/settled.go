package provider

import "github.com/spillway-dev/spillway/policy/quota"

// State is how much is known of what a call has used.
type State uint8

// The states.
const (
	Unknown  State = iota // it may have run, or run still; nobody knows what it used
	Reported              // the provider has said all of it
	Counted               // its end is known; what it used was counted here, at least in part
	NotRun                // the provider says that it has not run it
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"unknown", "reported", "counted", "not_run"}[s]
}

// Settled is what came of a call.
type Settled struct {
	State State
	// Input and Output are the tokens it has used; of an unknown one at least.
	Input, Output int64
	// Amounts is what they come to.
	Amounts quota.Amounts
	// Failed says that the answer was no success, whatever its status said.
	Failed bool
	// Code is what the provider called that, "" for nothing.
	Code string
}

// Lost is what is known of a call of which no answer came.
func (c *Call) Lost() Settled { return c.settled(Unknown, c.Input, 0) }

// Refused is what an answer that is no success says that the call has used.
func (c *Call) Refused(t Trouble) Settled {
	s := Settled{State: t.Ran, Failed: true, Code: t.Code}
	if t.Ran != NotRun {
		s = c.settled(t.Ran, c.Input, 0)
		s.Failed, s.Code = true, t.Code
	}
	return s
}

func (c *Call) settled(state State, input, output int64) Settled {
	return Settled{State: state, Input: input, Output: output, Amounts: c.amounts(input, output)}
}

// amounts is what so many tokens come to, with what the call costs whatever it uses.
func (c *Call) amounts(input, output int64) quota.Amounts {
	a := c.Price.Amounts(input, output)
	for u, n := range c.Besides {
		a[u] = min(a[u]+n, quota.MostMax)
	}
	return a
}
