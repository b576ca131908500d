package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Config is how a provider behaves.
type Config struct {
	// Key is the one that it takes; "": any.
	Key string
	// Words is how many words its models say; 0: 5.
	Words int
	// Strict refuses a request to be told usage in a stream.
	Strict bool
	// Mute never says what a stream used, asked or not.
	Mute bool
	// Pace is how long it takes for each chunk.
	Pace time.Duration
	// Header is on every answer.
	Header map[string]string
}

// Step is what becomes of one call instead of what usually does.
type Step struct {
	// Status and Body, if set, are its answer.
	Status int
	Header map[string]string
	Body   string
	// ErrorAfter sends an error in the stream after so many chunks, CutAfter breaks the
	// connection, EndAfter ends it as if it were whole; each counts from 1.
	ErrorAfter, CutAfter, EndAfter int
	// Hold, if set, is waited for before the answer begins, HoldAfter before the chunk
	// after so many.
	Hold      <-chan struct{}
	HoldAfter int
}

// Call is one that was made.
type Call struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	At           time.Time
}

// Spent is what calls have used, by the provider's own count.
type Spent struct{ Calls, Input, Output int }

// Server is a provider that runs.
type Server struct {
	URL string

	cfg Config
	mu  sync.Mutex
	// guarded by mu
	steps []Step
	calls []Call
	now   int
	peak  int
	spent Spent
	broke int
}

// Start runs a provider until the test ends.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	if cfg.Words == 0 {
		cfg.Words = 5
	}
	s := &Server{cfg: cfg}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	s.URL = h.URL
	return s
}

// Next says what becomes of the next calls, one each.
func (s *Server) Next(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Calls returns those that were made so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Peak returns how many calls there were at once at most.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Spent returns what was used.
func (s *Server) Spent() Spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// Broken returns how many streams their callers have broken off.
func (s *Server) Broken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broke
}

func (s *Server) begin(c Call) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.now++
	s.peak = max(s.peak, s.now)
	if len(s.steps) == 0 {
		return Step{}
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func (s *Server) spend(input, output int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.Calls++
	s.spent.Input += input
	s.spent.Output += output
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	step := s.begin(Call{r.Method, r.URL.Path, r.Header.Clone(), body, time.Now()})
	defer s.end()
	if step.Hold != nil && step.HoldAfter == 0 {
		select {
		case <-step.Hold:
		case <-r.Context().Done():
			return
		}
	}
	for _, all := range []map[string]string{s.cfg.Header, step.Header} {
		for name, value := range all { // one header, whatever the order
			w.Header().Set(name, value)
		}
	}
	anthropic := strings.HasSuffix(r.URL.Path, "/messages")
	switch {
	case !s.knows(r):
		fail(w, anthropic, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "Incorrect API key provided: "+key(r)+".")
	case step.Status != 0:
		if step.Body != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(step.Status)
			io.WriteString(w, step.Body)
			return
		}
		fail(w, anthropic, step.Status, "scripted_error", "scripted", "as the script says")
	default:
		s.answer(&reply{server: s, w: w, r: r, step: step, anthropic: anthropic}, body)
	}
}

func key(r *http.Request) string {
	if k := r.Header.Get("X-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (s *Server) knows(r *http.Request) bool { return s.cfg.Key == "" || key(r) == s.cfg.Key }

func fail(w http.ResponseWriter, anthropic bool, status int, kind, code, message string) {
	doc := map[string]any{"error": map[string]any{"type": kind, "code": code, "message": message, "param": nil}}
	if anthropic {
		doc = map[string]any{"type": "error", "request_id": "req_1", "error": map[string]any{"type": kind, "message": message}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(doc)
}

// words counts those of all strings in a document.
func words(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(strings.Fields(v))
	case []any:
		for _, e := range v {
			n += words(e)
		}
	case map[string]any:
		for _, key := range []string{"content", "text", "input", "prompt", "instructions", "system", "messages"} {
			n += words(v[key])
		}
	}
	return n
}

// word is the i-th that a model says.
func word(i int) string { return fmt.Sprintf("wörd%d ", i) }
