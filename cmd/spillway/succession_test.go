package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestSuccession: three times a new process takes over from the one before it,
// while callers ask on old connections and on new ones. Every request is answered,
// arrives once, and none is refused a connection.
func TestSuccession(t *testing.T) {
	var arrived atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		io.Copy(w, r.Body)
	}))
	defer service.Close()
	g := serve(t, t.TempDir(), "--upstream", service.URL, "--slots", "100", "--drain-limit", "10s")

	stop := make(chan struct{})
	var callers sync.WaitGroup
	var asked atomic.Int64
	for n := range 4 {
		callers.Go(func() {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: n%2 == 0}, Timeout: time.Minute}
			defer c.CloseIdleConnections()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				text := strconv.Itoa(i)
				asked.Add(1)
				// A POST is sent once: what is lost of it stays lost.
				res, err := c.Post(g.front, "text/plain", struct{ io.Reader }{strings.NewReader(text)})
				if err != nil {
					t.Errorf("caller %d, request %d: %v", n, i, err)
					return
				}
				b, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || res.StatusCode != 200 || string(b) != text {
					t.Errorf("caller %d, request %d: answered %d %q, %v", n, i, res.StatusCode, b, err)
				}
			}
		})
	}
	pid := g.process.Process.Pid
	for range 3 {
		if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
		line := g.await(t, "a new process serves")
		next, err := strconv.Atoi(field(t, line, "pid"))
		if err != nil || next == pid {
			t.Fatalf("pid %d: %s", next, line)
		}
		t.Cleanup(func() { syscall.Kill(next, syscall.SIGKILL) })
		g.await(t, "msg=left")
		pid = next
	}
	close(stop)
	callers.Wait()
	if asked.Load() != arrived.Load() || asked.Load() < 100 {
		t.Errorf("%d requests were made, %d arrived", asked.Load(), arrived.Load())
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	g.await(t, "drained")
}

// TestFailedSuccession: a new process that does not come up changes nothing.
func TestFailedSuccession(t *testing.T) {
	service := startSlow(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "spillway.yaml")
	text := "version: 1\nreload: { watch: off }\nupstreams: { app: { url: \"" + service.URL + "\" } }\nclasses: { all: { match: { path: \"/*\" } } }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := serve(t, folder)
	if err := os.WriteFile(file, []byte("version: 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.process.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	g.await(t, "did not come up")
	if a := get(t, g.front+"/"); a.status != 200 {
		t.Errorf("afterwards it answered %+v", a)
	}
	if a := get(t, g.admin+"/readyz"); a.status != 200 {
		t.Errorf("afterwards /readyz answered %+v", a)
	}
}
