package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// served is a real process of spillway serve.
type served struct {
	process      *exec.Cmd
	front, admin string // URLs
	lines        chan string
	done         chan error
}

// serve starts it and waits until it listens; its log is the way to its ports.
func serve(t *testing.T, folder string, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	g := &served{
		process: command(ctx, t, folder, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...),
		lines:   make(chan string, 1000), done: make(chan error, 1),
	}
	var stdout strings.Builder
	g.process.Stdout = &stdout
	out, err := g.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			select {
			case g.lines <- s.Text():
			default: // nobody reads that much of a log here
			}
		}
		close(g.lines)
		g.done <- g.process.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		for range g.lines {
		}
		if stdout.Len() > 0 {
			t.Errorf("serve has no result, yet prints %q on stdout", stdout.String())
		}
	})
	line := g.await(t, "listening")
	g.front, g.admin = "http://"+field(t, line, "address"), "http://"+field(t, line, "admin")
	return g
}

// await returns the next line of the log that contains text.
func (g *served) await(t *testing.T, text string) string {
	t.Helper()
	for line := range g.lines {
		if strings.Contains(line, text) {
			return line
		}
	}
	t.Fatalf("it ended without saying %q", text)
	return ""
}

// field returns a field of a line that slog wrote, as JSON or as text.
func field(t *testing.T, line, name string) string {
	t.Helper()
	var doc map[string]any
	if json.Unmarshal([]byte(line), &doc) == nil {
		s, _ := doc[name].(string)
		return s
	}
	for word := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return strings.Trim(value, `"`)
		}
	}
	t.Fatalf("no %s in %s", name, line)
	return ""
}

// slow is a service whose answers wait for the test.
type slow struct {
	*httptest.Server
	came    chan struct{}
	release chan struct{}
}

func startSlow(t *testing.T) *slow {
	s := &slow{came: make(chan struct{}, 100), release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			s.came <- struct{}{}
			<-s.release
		}
		io.WriteString(w, "hello from the service")
	}))
	t.Cleanup(s.Close)
	t.Cleanup(sync.OnceFunc(func() {
		select {
		case <-s.release:
		default:
			close(s.release)
		}
	}))
	return s
}

type answer struct {
	status       int
	reason, body string
	header       http.Header
}

func get(t *testing.T, url string) answer {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{r.StatusCode, r.Header.Get("Spillway-Reason"), string(body), r.Header}
}

// TestServeUpstream is the life of a gateway without a file: it serves, it
// tells what it does, it is asked to end, it lets what runs go on to its end.
func TestServeUpstream(t *testing.T) {
	service := startSlow(t)
	g := serve(t, t.TempDir(), "--upstream", service.URL, "--slots", "1")

	if a := get(t, g.front+"/"); a.status != 200 || a.body != "hello from the service" || a.reason != "served" {
		t.Errorf("GET / = %+v", a)
	}
	if a := get(t, g.admin+"/readyz"); a.status != 200 {
		t.Errorf("GET /readyz = %+v", a)
	}
	if a := get(t, g.admin+"/metrics"); !strings.Contains(a.body, "spillway_") {
		t.Errorf("GET /metrics = %.200s", a.body)
	}

	runs := make(chan answer, 1)
	go func() { runs <- get(t, g.front+"/slow") }()
	<-service.came
	if err := g.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	g.await(t, "draining")
	if a := get(t, g.admin+"/readyz"); a.status != 503 {
		t.Errorf("GET /readyz while draining = %+v", a)
	}
	close(service.release)
	if a := <-runs; a.status != 200 || a.reason != "served" {
		t.Errorf("what ran when the gateway was told to end was answered %+v", a)
	}
	g.await(t, "drained")
	for range g.lines {
	}
	if err := <-g.done; err != nil {
		t.Errorf("a gateway that drained ended with %v", err)
	}
}

// TestServeFile: the same with a file, and more offered than there is room for.
func TestServeFile(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	file := "version: 1\nupstreams:\n  app: { url: \"" + service.URL + "\", slots: 1, service: 100ms }\nclasses:\n" +
		"  all: { match: { path: \"/*\" }, slots: 1, budget: { latency: 200ms, service: 100ms }, deadline: 30s }\n"
	if err := os.WriteFile(folder+"/spillway.yaml", []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	g := serve(t, folder) // spillway.yaml is what it looks for

	runs, waits := make(chan answer, 1), make(chan answer, 1)
	go func() { runs <- get(t, g.front+"/slow") }()
	<-service.came
	go func() { waits <- get(t, g.front+"/") }()
	for waiting := false; !waiting; {
		waiting = strings.Contains(get(t, g.admin+"/debug/pools").body, "waiting   1 of ")
		if t.Failed() {
			return
		}
	}
	a := get(t, g.front+"/")
	if a.status != 503 || a.reason != "queue_full" || a.header.Get("Retry-After") == "" {
		t.Errorf("with the slot taken and the room full: %+v", a)
	}
	if a.header.Get("Content-Type") != "application/problem+json" || document(t, a.body)["reason"] != "queue_full" {
		t.Errorf("the refusal says %q %s", a.header.Get("Content-Type"), a.body)
	}
	close(service.release)
	for _, c := range []chan answer{runs, waits} {
		if a := <-c; a.status != 200 {
			t.Errorf("what ran and what waited is served: %+v", a)
		}
	}
}

// TestServeTakenAddress: one clear line, and at once.
func TestServeTakenAddress(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	address := strings.TrimPrefix(taken.URL, "http://")
	folder := t.TempDir()
	written(t, folder, "traffic.rec", "of the gateway that has the address")
	_, stderr, code := spillway(t, folder, "serve", "--upstream", taken.URL, "--listen", address, "--admin", "127.0.0.1:0", "--record", "traffic.rec")
	if code != exitFailed || !strings.Contains(stderr, address) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exits %d and says %q", code, stderr)
	}
	if files, _ := os.ReadDir(folder); len(files) != 1 || files[0].Name() != "traffic.rec" {
		t.Errorf("the recording of the one that runs was moved: %v", files)
	}
}

func TestInterruptedLoadReports(t *testing.T) {
	service := startSlow(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := command(ctx, t, t.TempDir(), "load", service.URL+"/slow", "--rate", "50", "--for", "50s", "--lag-bound", "50s", "--json")
	var stdout strings.Builder
	c.Stdout = &stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-service.came
	c.Process.Signal(os.Interrupt)
	close(service.release)
	err := c.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	doc := document(t, stdout.String())
	if !strings.Contains(stdout.String(), "stopped before the end") || doc["offered"] == 0.0 {
		t.Errorf("an interrupted run reports what it has seen, and that it was stopped: %.500s", stdout.String())
	}
}
