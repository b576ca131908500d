package resend_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/resend"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/pipes"
)

// What is sent once more: what is safe, has no body, and broke, before any answer, on a
// connection that had been idle for long.
func TestOnlyWhatIsStaleIsSentAgain(t *testing.T) {
	for _, k := range []struct {
		name, method, body string
		idle               time.Duration
		answers            bool // a byte of an answer comes before it breaks
		again              bool
	}{
		{"a GET", "GET", "", call.StaleAfter, false, true},
		{"a HEAD", "HEAD", "", time.Hour, false, true},
		{"a GET under load", "GET", "", call.StaleAfter - 1, false, false},
		{"a GET that is being answered", "GET", "", time.Hour, true, false},
		{"a GET with a body", "GET", "abc", time.Hour, false, false},
		{"a POST", "POST", "", time.Hour, false, false},
		{"a PUT, which may be repeated but changes something", "PUT", "", time.Hour, false, false},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := 0
				l := pipes.Listen()
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if seen++; seen != 2 {
						return
					}
					conn, _, _ := http.NewResponseController(w).Hijack()
					if k.answers {
						io.WriteString(conn, "H")
					}
					conn.Close()
				})}
				go server.Serve(l)
				base := &http.Transport{DialContext: l.Dial}
				send := func(method, body string) (bool, error) {
					var s resend.Sending
					req := httptest.NewRequest(method, "http://dep/", strings.NewReader(body))
					req.RequestURI, req.Header = "", http.Header{"Idempotency-Key": {"k"}}
					if body == "" {
						req.Body = nil
					}
					resp, again, err := resend.Send(base, req.WithContext(s.Watch(t.Context())))
					if err == nil {
						resp.Body.Close()
					}
					return again, err
				}
				send("GET", "")
				time.Sleep(k.idle)
				again, err := send(k.method, k.body)
				if want := map[bool]int{false: 2, true: 3}[k.again]; again != k.again || seen != want || (err == nil) != k.again {
					t.Errorf("sent again %v, seen %d times, %v; want %v", again, seen, err, k.again)
				}
				base.CloseIdleConnections()
				server.Close()
			})
		})
	}
}
