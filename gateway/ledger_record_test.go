package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Only what is exactly an answer says something: whatever else a record does, the call
// stays as it is.
func TestWhatARecordSays(t *testing.T) {
	tokens := func(n int64) *quota.Amounts { return &quota.Amounts{quota.Tokens: n} }
	for _, c := range []struct {
		name   string
		status int
		body   string
		said   quota.Recorded
		used   *quota.Amounts
	}{
		{"it never came", 200, `{"call": "absent"}`, quota.Absent, nil},
		{"it runs", 200, `{"call": "running"}`, quota.Running, nil},
		{"it has ended", 200, `{"call": "ended", "used": {"tokens": 120}}`, quota.Ended, tokens(120)},
		{"and used nothing", 200, `{"call": "ended", "used": {}}`, quota.Ended, tokens(0)},
		{"not found is no answer", 404, `{"call": "absent"}`, quota.CannotTell, nil},
		{"a broken server", 500, `{"call": "absent"}`, quota.CannotTell, nil},
		{"elsewhere", 302, `{"call": "absent"}`, quota.CannotTell, nil},
		{"no JSON", 200, `absent`, quota.CannotTell, nil},
		{"empty", 200, ``, quota.CannotTell, nil},
		{"nothing said", 200, `{}`, quota.CannotTell, nil},
		{"another word", 200, `{"call": "gone"}`, quota.CannotTell, nil},
		{"used less than nothing", 200, `{"call": "ended", "used": {"tokens": -1}}`, quota.CannotTell, nil},
		{"too long", 200, `{"call": "absent"` + strings.Repeat(" ", recordMost) + `}`, quota.CannotTell, nil},
		{"two answers", 200, `{"call": "absent"}{"call": "ended"}`, quota.CannotTell, nil},
	} {
		var asked *http.Request
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
		}))
		r := newRecord(config.Reconcile{Record: config.Literal(s.URL + "/calls?of=us"), Token: config.Literal("s3cret")})
		got, err := r.ask(context.Background(), ledger.Call{ID: "a b&id=c", Tenant: "acme", Reservation: quota.Reservation{Attempt: 3}})
		s.Close()
		if got.Said != c.said || (err == nil) != (c.said != quota.CannotTell) || (got.Used == nil) != (c.used == nil) || c.used != nil && *got.Used != *c.used {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if q := asked.URL.Query(); q.Get("id") != "a b&id=c" || q.Get("attempt") != "3" || q.Get("of") != "us" || asked.Header.Get("Authorization") != "Bearer s3cret" || asked.URL.Path != "/calls" {
			t.Errorf("%s: asked %v", c.name, asked.URL)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the token is told: %v", c.name, err)
		}
	}
}
