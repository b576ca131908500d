package httpgate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// refusals are the reasons that a caller can be told; the others are answers.
func refusals() []reason.Reason {
	return slices.DeleteFunc(reason.All(), func(r reason.Reason) bool { return r.Kind() == reason.KindDone })
}

// problem is the schema of a refusal's body: these members and no others.
type problem struct {
	Type, Title, Detail, Reason, Rung, Class string
	Status                                   int
	RetryAfterMS                             *int64 `json:"retry_after_ms"`
}

// tell returns the answer to a refusal.
func tell(refused gate.Refusal, mutate ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest("POST", "/", nil)
	for _, m := range mutate {
		m(r)
	}
	w := httptest.NewRecorder()
	httpgate.Answer(w, r, refused)
	return w.Result()
}

func overGRPC(r *http.Request) {
	r.ProtoMajor = 2
	r.Header.Set("Content-Type", "application/grpc+proto")
}

// What a refusal says in its header, in its body and over gRPC is the same, for
// every reason and every hint, and nothing of the gate's insides.
func TestAnswers(t *testing.T) {
	hints := []time.Duration{0, -1, 1, 999_999, time.Millisecond, 999 * time.Millisecond, time.Second, time.Second + 1, 1500 * time.Millisecond, 30 * time.Second}
	for _, why := range refusals() {
		for _, hint := range hints {
			t.Run(fmt.Sprint(why, "/", hint), func(t *testing.T) {
				refused := gate.Refusal{Reason: why, RetryAfter: hint, Class: "checkout"}
				resp := tell(refused)
				h := resp.Header
				wantAnswer(t, resp, httpgate.Status(why), why)
				var p problem
				d := json.NewDecoder(resp.Body)
				d.DisallowUnknownFields()
				if err := d.Decode(&p); err != nil {
					t.Fatal(err)
				}
				if p.Type != httpgate.ReasonPage+why.String()+".md" || p.Title == "" || p.Detail == "" || p.Status != resp.StatusCode ||
					p.Reason != why.String() || p.Rung != "refusal" || p.Class != "checkout" || h.Get("Content-Type") != "application/problem+json" {
					t.Errorf("body %+v", p)
				}
				retries := slices.Contains([]int{409, 429, 502, 503, 504}, resp.StatusCode)
				if retries != (h.Get("Retry-After") != "") || retries != (h.Get("Retry-After-Ms") != "") || retries != (p.RetryAfterMS != nil) {
					t.Fatalf("status %d, header %v, body %+v", resp.StatusCode, h, p)
				}
				if !retries {
					return
				}
				s, err1 := strconv.ParseInt(h.Get("Retry-After"), 10, 64)
				ms, err2 := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64)
				if err1 != nil || err2 != nil || ms < 1 || s != (ms+999)/1000 || *p.RetryAfterMS != ms {
					t.Errorf("%q s, %q ms, %d in the body", h.Get("Retry-After"), h.Get("Retry-After-Ms"), *p.RetryAfterMS)
				}
				if off := time.Duration(ms)*time.Millisecond - hint; hint > 0 && (off < 0 || off >= time.Millisecond) {
					t.Errorf("told %d ms, promised %v", ms, hint)
				}

				g := tell(refused, overGRPC).Header
				pushback, err := strconv.ParseInt(g.Get("Grpc-Retry-Pushback-Ms"), 10, 64)
				switch never := h.Get("X-Should-Retry") == "false"; {
				case err != nil || never != (pushback < 0):
					t.Errorf("x-should-retry %q, pushback %q", h.Get("X-Should-Retry"), g.Get("Grpc-Retry-Pushback-Ms"))
				case hint > 0 && !never && pushback != ms:
					t.Errorf("pushback %d ms, header %d ms", pushback, ms)
				}
				if status, _ := strconv.Atoi(g.Get("Grpc-Status")); status < 1 || status > 16 {
					t.Errorf("grpc-status %q", g.Get("Grpc-Status"))
				}
				if m := g.Get("Grpc-Message"); m != p.Detail || strings.ContainsFunc(m, func(r rune) bool { return r < ' ' || r > '~' || r == '%' }) {
					t.Errorf("grpc-message %q", m)
				}
			})
		}
	}
}

// Without a hint callers are spread.
func TestHintsAreSpread(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[tell(gate.Refusal{Reason: reason.Failed}).Header.Get("Retry-After-Ms")] = true
	}
	if len(seen) < 20 {
		t.Errorf("only %d different hints in 100", len(seen))
	}
}

// The table of reasons in DESIGN, kept.
func TestStatus(t *testing.T) {
	want := map[int]string{
		200: "served accepted",
		400: "bad_request", 401: "unauthorized", 409: "key_in_progress", 413: "too_large", 422: "key_conflict",
		429: "rate_limited tenant_full quota_requests quota_tokens quota_concurrency",
		499: "caller_gone",
		502: "failed",
		503: "shed_for_load queue_full queue_bytes infeasible draining operator ledger_unavailable dropped block_timeout evicted breaker_open",
		504: "expired timeout unknown",
	}
	for _, why := range reason.All() {
		if !slices.Contains(strings.Fields(want[httpgate.Status(why)]), why.String()) {
			t.Errorf("%v has status %d", why, httpgate.Status(why))
		}
	}
}

// A class may be named as its operator likes; the body is JSON all the same.
func TestAnyClassName(t *testing.T) {
	for _, name := range []string{"", "a", `"`, `\`, "\x00\x7f\n", "Zürich", "🌊", "\xff", strings.Repeat("x", 5000)} {
		var p problem
		if err := json.NewDecoder(tell(gate.Refusal{Reason: reason.QueueFull, Class: name}).Body).Decode(&p); err != nil {
			t.Errorf("class %q: %v", name, err)
		} else if p.Class != strings.ToValidUTF8(name, "\ufffd") {
			t.Errorf("class %q is told as %q", name, p.Class)
		}
	}
}

// A caller's request id comes back if it is one; else there is a new one.
func TestRequestID(t *testing.T) {
	for _, c := range []struct {
		sent string
		back bool
	}{
		{"abc-123", true}, {strings.Repeat("x", 128), true},
		{"", false}, {strings.Repeat("x", 129), false}, {"a b", false}, {"a\r\nSet-Cookie: x", false}, {"é", false},
	} {
		got := tell(gate.Refusal{Reason: reason.QueueFull}, func(r *http.Request) { r.Header["X-Request-Id"] = []string{c.sent} }).Header.Get("X-Request-Id")
		if got == "" || (got == c.sent) != c.back {
			t.Errorf("sent %q, got %q", c.sent, got)
		}
	}
}

// Neither HEAD nor 204 has a body.
func TestNoBody(t *testing.T) {
	w := httptest.NewRecorder()
	httpgate.Answer(w, httptest.NewRequest("HEAD", "/", nil), gate.Refusal{Reason: reason.QueueFull})
	if w.Body.Len() != 0 || w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("HEAD: %d, %q", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	httpgate.AnswerStatus(w, httptest.NewRequest("GET", "/", nil), gate.Refusal{Reason: reason.Dropped}, 204)
	if w.Body.Len() != 0 || w.Code != 204 || w.Header().Get("X-Should-Retry") != "false" {
		t.Errorf("204: %d, %q, %v", w.Code, w.Body, w.Header())
	}
}

const pages = "../../docs/reasons"

// Every reason has the page that refusals lead to, and the page says what the
// code does. No page is left over.
func TestPages(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(pages, "*.md"))
	for _, f := range files {
		left[filepath.Base(f)] = filepath.Base(f) != "README.md"
	}
	for _, why := range reason.All() {
		name := why.String() + ".md"
		delete(left, name)
		b, err := os.ReadFile(filepath.Join(pages, name))
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(b)
		status := fmt.Sprint(httpgate.Status(why))
		if why == reason.Accepted {
			status = "202"
		}
		for _, part := range []string{"# `" + why.String() + "`", "## What it means", "## What the caller must do", "## What the operator can do"} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: lacks %q", name, part)
			}
		}
		if !regexp.MustCompile(`(?m)^HTTP ` + status + `\b`).MatchString(page) {
			t.Errorf("%s: does not say HTTP %s", name, status)
		}
		if why.Kind() != reason.KindDone && tell(gate.Refusal{Reason: why}).Header.Get("X-Should-Retry") == "false" && !strings.Contains(strings.Join(strings.Fields(page), " "), "`x-should-retry: false`") {
			t.Errorf("%s: does not say that it is not to be retried", name)
		}
		if !strings.Contains(string(index), "("+name+")") {
			t.Errorf("README.md does not list %s", name)
		}
	}
	for name, extra := range left {
		if extra {
			t.Errorf("%s is about no reason", name)
		}
	}
}
