package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider"
	"github.com/spillway-dev/spillway/provider/scan"
)

// Told implements provider.API. The resets say when a limit is full again.
func (a *API) Told(h http.Header, now time.Time) (t provider.Told) {
	for _, l := range []struct {
		of   string
		unit quota.Unit
	}{{"Requests", quota.Requests}, {"Tokens", quota.Tokens}, {"Input-Tokens", quota.InputTokens}, {"Output-Tokens", quota.OutputTokens}} {
		t[l.unit] = provider.Limits(h.Get("X-Ratelimit-Limit-"+l.of), h.Get("X-Ratelimit-Remaining-"+l.of), h.Get("X-Ratelimit-Reset-"+l.of), now)
	}
	return t
}

// unpaid are the codes of a 429 that no waiting ends.
var unpaid = map[string]bool{
	"insufficient_quota": true, "billing_hard_limit_reached": true, "billing_not_active": true, "credit_balance_exhausted": true,
	"organization_spend_limit_exceeded": true, "project_spend_limit_exceeded": true, "organization_usage_limit_exceeded": true,
}

// Judge implements provider.API.
func (a *API) Judge(status int, h http.Header, body []byte, now time.Time) provider.Trouble {
	t := provider.Judged(status)
	problem, code := provider.Coded(body)
	t.Code = code
	if wait, ok := provider.Heading(h, now); ok {
		t.Wait = wait
	}
	if t.Scope != provider.OfLimit {
		return t
	}
	kind, _ := scan.Text(scan.Member(problem, "type"))
	if unpaid[code] || unpaid[kind] {
		t.Scope, t.Final = provider.OfAccount, true
		return t
	}
	told := a.Told(h, now)
	if wait := t.Exhausted(&told); t.Wait == 0 {
		t.Wait = wait
	}
	message, _ := scan.Text(scan.Member(problem, "message"))
	t.Units[quota.Tokens] = t.Units[quota.Tokens] || kind == "tokens" || strings.Contains(message, "tokens per")
	t.Units[quota.Requests] = t.Units[quota.Requests] || kind == "requests" || strings.Contains(message, "requests per")
	return t
}

// Authorize implements provider.API.
func (a *API) Authorize(h http.Header, key string) {
	h["Authorization"] = []string{"Bearer " + key}
}

// kinds are what errors of ours are to OpenAI's clients.
var kinds = [...]struct{ kind, code string }{
	provider.Broken:     {"server_error", "upstream_failed"},
	provider.Overloaded: {"server_error", "server_is_overloaded"},
	provider.Limited:    {"rate_limit_error", "rate_limit_exceeded"},
	provider.Denied:     {"invalid_request_error", "invalid_api_key"},
	provider.Invalid:    {"invalid_request_error", "invalid_request"},
}

// Problem implements provider.API.
func (a *API) Problem(kind provider.Kind, message string) []byte {
	k := kinds[kind]
	b, _ := json.Marshal(struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}{message, k.kind, nil, k.code})
	return b
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}
