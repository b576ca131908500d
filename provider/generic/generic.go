package generic

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/openai"
)

// Costs are the expressions for what a call costs, each a number; nil: nothing of it.
type Costs struct {
	// Input and Output are tokens, Money is in units of the currency.
	Input, Output, Money *expr.Program
}

// API is the language. Create it with New.
type API struct {
	costs  Costs
	header *openai.API // whose names of limits others have taken over
}

// New returns the language of a service whose calls cost that.
func New(c Costs) *API { return &API{c, openai.New(provider.Options{})} }

var _ provider.API = (*API)(nil)

// Read implements provider.API. What cannot be worked out, and what is no number of at
// least 0, refuses the request: what nobody can price is not sent.
func (a *API) Read(q *provider.Request) (*provider.Call, error) {
	c := &provider.Call{Endpoint: "other", Body: q.Body}
	input, err := cost(a.costs.Input, q, "input", float64(provider.TokensMost))
	if err != nil {
		return nil, err
	}
	output, err := cost(a.costs.Output, q, "output", float64(provider.TokensMost))
	if err != nil {
		return nil, err
	}
	money, err := cost(a.costs.Money, q, "money", float64(quota.MostMax)/quota.Currency)
	if err != nil {
		return nil, err
	}
	c.Input, c.Output = int64(math.Ceil(input)), int64(math.Ceil(output))
	c.Besides[quota.Money] = int64(math.Ceil(money * quota.Currency))
	return c, nil
}

func cost(p *expr.Program, q *provider.Request, what string, most float64) (float64, error) {
	if p == nil {
		return 0, nil
	}
	n, err := p.Number(q.Known)
	switch {
	case err != nil:
		return 0, fmt.Errorf("what it costs in %s cannot be worked out: %w", what, err)
	case math.IsNaN(n) || n < 0:
		return 0, fmt.Errorf("what it costs in %s comes to %v, which is no cost", what, n)
	}
	return min(n, most), nil
}

// Told implements provider.API.
func (a *API) Told(h http.Header, now time.Time) provider.Told { return a.header.Told(h, now) }

// Judge implements provider.API.
func (a *API) Judge(status int, h http.Header, body []byte, now time.Time) provider.Trouble {
	t := a.header.Judge(status, h, body, now)
	t.Code = ""
	return t
}

// Authorize implements provider.API.
func (a *API) Authorize(h http.Header, key string) { a.header.Authorize(h, key) }

// Problem implements provider.API.
func (a *API) Problem(_ provider.Kind, message string) []byte {
	b, _ := json.Marshal(struct {
		Message string `json:"message"`
	}{message})
	return b
}
