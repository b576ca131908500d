package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Bounds of what a record is asked.
const (
	recordTime = 10 * time.Second
	recordMost = 64 << 10
)

// callRecord is what ends calls that are unknown.
type callRecord struct {
	config.Reconcile
	client *http.Client
}

func newRecord(cfg config.Reconcile) *callRecord {
	return &callRecord{cfg, &http.Client{
		Timeout:       recordTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // nor takes the token elsewhere
	}}
}

// resolveUnknown asks the record about what is unknown, until ctx ends.
func (g *Gateway) resolveUnknown(ctx context.Context) {
	cfg := g.config().Ledger.Reconcile
	if g.ledger == nil || cfg.Record.IsZero() {
		return
	}
	r := newRecord(cfg)
	defer r.client.CloseIdleConnections()
	err := g.ledger.Resolve(ctx, ledger.Resolver{
		Rule: quota.Reconcile{After: cfg.After.D()}, Ask: r.ask,
		Told: func(c ledger.Call, s ledger.Statement, ended bool, err error) {
			switch {
			case ended:
				g.log.Warn("a record has ended a call that was unknown", "call", c.ID, "attempt", c.Attempt, "evidence", s.Evidence)
			case err != nil:
				g.log.Warn("a record could not be asked about what is unknown", "call", c.ID, "error", err)
			}
		},
	})
	if ctx.Err() == nil {
		g.log.Error("what is unknown is not resolved any more", "error", err)
	}
}

// ask asks about one call. What is not exactly an answer says nothing.
func (r *callRecord) ask(ctx context.Context, c ledger.Call) (s ledger.Statement, err error) {
	u, err := url.Parse(r.Record.Value())
	if err != nil {
		return s, err
	}
	q := u.Query()
	q.Set("id", c.ID)
	q.Set("attempt", strconv.FormatInt(c.Attempt, 10))
	q.Set("tenant", c.Tenant)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return s, err
	}
	if !r.Token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+r.Token.Value())
	}
	res, err := r.client.Do(req)
	if err != nil {
		return s, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, recordMost+1))
	switch {
	case err != nil:
		return s, err
	case res.StatusCode != http.StatusOK || len(body) > recordMost:
		return s, fmt.Errorf("the record answers %d, %d bytes", res.StatusCode, len(body))
	}
	return readStatement(body, u.Host)
}

var recordWords = map[string]quota.Recorded{"absent": quota.Absent, "running": quota.Running, "ended": quota.Ended}

// readStatement reads what a record answers.
func readStatement(body []byte, host string) (s ledger.Statement, err error) {
	var doc struct {
		Call string           `json:"call"`
		Used map[string]int64 `json:"used"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return s, fmt.Errorf("the record answers no JSON: %w", err)
	}
	said, known := recordWords[doc.Call]
	if !known {
		return s, fmt.Errorf("the record answers no call: absent, running or ended")
	}
	s = ledger.Statement{Said: said, Evidence: fmt.Sprintf("the record at %s says %s", host, doc.Call)}
	if doc.Used == nil {
		return s, nil
	}
	s.Used = new(quota.Amounts)
	for u := range quota.Units {
		n := doc.Used[quota.Unit(u).String()]
		if n < 0 || n > quota.MostMax {
			return ledger.Statement{}, fmt.Errorf("the record answers %d %v", n, quota.Unit(u))
		}
		s.Used[u] = n
	}
	return s, nil
}
