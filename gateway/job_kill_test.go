package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/job"
)

// killedConfig tells the test binary that it is the gateway that is to be killed.
const killedConfig = "SPILLWAY_TEST_KILLED"

// serveUntilKilled is that gateway.
func serveUntilKilled(file string) error {
	cfg, err := config.Load(file)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: l, AdminListener: admin, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return g.Serve(context.Background())
}

// service counts how often it did what under which key.
type service struct {
	mu   sync.Mutex
	done map[string]int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	key := strings.Trim(r.Header.Get("Idempotency-Key"), `"`)
	s.mu.Lock()
	s.done[key]++
	n := s.done[key]
	s.mu.Unlock()
	fmt.Fprintf(w, "%s %d", key, n)
}

// The gateway is killed at random, again and again, while callers bring jobs and requests
// with keys. Every 202 is in the ledger and is done in the end, or nobody knows; nothing
// whose effects may be there is done twice; a key that was answered is answered the same.
func TestAGatewayIsKilled(t *testing.T) {
	if file := os.Getenv(killedConfig); file != "" {
		fmt.Println("ended:", serveUntilKilled(file))
		os.Exit(1)
	}
	if longWay {
		return // the other process does not take it
	}
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("SPILLWAY_KILLS")); err == nil {
		kills = n
	}
	s := &service{done: map[string]int{}}
	file, dir := filepath.Join(t.TempDir(), "test.yaml"), t.TempDir()
	text := fmt.Sprintf(`version: 1
upstreams: { app: { url: %q } }
ledger: { url: "sqlite:%s/ledger.db" }
jobs: { path: /v1/jobs, pause: { base: 1ms, max: 1ms } }
classes:
  often: { match: { path: "/often*" }, slots: 4, repeat: on }
  all: { slots: 4, keys: on }
`, serviceAt(t, s.ServeHTTP), dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &witness{t: t, jobs: map[string]string{}, answers: map[string]string{}}
	for n := range kills {
		w.life(n, file)
		if t.Failed() {
			return
		}
	}
	w.judge(s, filepath.Join(dir, "ledger.db"), file)
}

// witness is what callers were told.
type witness struct {
	t       *testing.T
	mu      sync.Mutex
	jobs    map[string]string // by id, the key it goes under
	answers map[string]string // by key, of those that were answered
}

// life is one process from its start to its death.
func (w *witness) life(n int, file string) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAGatewayIsKilled$")
	cmd.Env = append(os.Environ(), killedConfig+"="+file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "http://") {
		w.t.Fatalf("the process says %q", lines.Text())
	}
	url := lines.Text()
	told, dead := make(chan struct{}, 1000), make(chan struct{})
	go func() {
		for range 1 + rand.IntN(120) {
			<-told
		}
		cmd.Process.Kill()
		cmd.Wait()
		close(dead)
		for range told { // nobody is kept waiting
		}
	}()
	var callers sync.WaitGroup
	for hand := range 8 {
		callers.Go(func() { w.bring(fmt.Sprint(n, "-", hand), url, told, dead) })
	}
	callers.Wait()
	close(told)
}

// bring brings jobs and keyed requests until the process is dead.
func (w *witness) bring(name, url string, told chan<- struct{}, dead <-chan struct{}) {
	client := &http.Client{Timeout: soon}
	defer client.CloseIdleConnections()
	for i := 0; ; i++ {
		key := fmt.Sprint(name, "-", i)
		post := func(path, body string) (int, string, string) {
			r, err := http.NewRequest("POST", url+path, strings.NewReader(body))
			if err != nil {
				w.t.Error(err)
			}
			r.Header.Set("Idempotency-Key", key)
			g, err := read(client.Do(r))
			if err != nil {
				return 0, "", ""
			}
			return g.StatusCode, g.body, g.Header.Get("Location")
		}
		var status int
		switch i % 3 {
		case 0, 1:
			var at string
			path := []string{"/once", "/often"}[i%3]
			if status, _, at = post("/v1/jobs", `{"request": {"path": "`+path+`", "body": "x"}}`); status == 202 {
				w.mu.Lock()
				w.jobs[strings.TrimPrefix(at, "/v1/jobs/")] = key
				w.mu.Unlock()
			}
		case 2:
			var body string
			if status, body, _ = post("/once", key); status == 200 {
				w.mu.Lock()
				w.answers[key] = body
				w.mu.Unlock()
			}
		}
		if status == 200 || status == 202 {
			told <- struct{}{}
		}
		select {
		case <-dead:
			return
		default:
		}
	}
}

// judge lets another process work off what is left and looks at everything.
func (w *witness) judge(s *service, path, file string) {
	t := w.t
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg)
	for id := range w.jobs {
		h.becomes(id, "done", "unknown", "dead")
	}
	for key, body := range w.answers {
		if g := h.send("POST", "/once", strings.NewReader(key), "Idempotency-Key", key); g.StatusCode != 200 && g.StatusCode != 504 || g.StatusCode == 200 && g.body != body {
			t.Errorf("%s was answered %q, and now %d %q", key, body, g.StatusCode, g.body)
		}
	}
	h.stop()
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), store, "judge") // audits
	if err != nil {
		t.Fatal(errors.Join(err, store.Close()))
	}
	defer l.Close()
	states, twice := map[job.State]int{}, 0
	for id, key := range w.jobs {
		j, err := l.FindJob(context.Background(), id)
		if err != nil {
			t.Errorf("job %s was accepted, and: %v", id, err)
			continue
		}
		states[j.State]++
		switch n := s.done[key]; {
		case j.State == job.Done && n == 0, j.State != job.Done && j.State != job.Unknown, j.Harmless && j.State != job.Done:
			t.Errorf("job %s is %v after %d calls (%s)", id, j.State, n, j.Evidence)
		case n > 1 && !j.Harmless:
			t.Errorf("job %s, that may not be done twice, was done %d times", id, n)
		case n > 1:
			twice++
		}
	}
	for key, n := range s.done {
		if _, keyed := w.answers[key]; keyed && n != 1 {
			t.Errorf("the request with key %s was done %d times", key, n)
		}
	}
	if len(w.jobs) == 0 || len(w.answers) == 0 {
		t.Error("no process lived long enough")
	}
	t.Logf("%d jobs accepted: %v; %d of those that may be were done again; %d keyed requests answered", len(w.jobs), states, twice, len(w.answers))
}
