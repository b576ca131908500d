package edge_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gateway/edge"
)

func TestMain(m *testing.M) {
	switch os.Getenv("EDGE_TEST_CHILD") {
	case "":
	case "1":
		child()
		return
	default:
		successor(os.Getenv("EDGE_TEST_CHILD"))
		return
	}
	// A child that has taken over ends when it likes, and is reaped then.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
}

func sockets(t *testing.T) *edge.Sockets {
	t.Helper()
	s, err := edge.Inherit()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "front.sock")
	a := edge.Address{Network: "unix", Name: path}
	s := sockets(t)
	l, err := s.Listen(a, 0o620)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o620 {
		t.Errorf("mode %v, %v; want 0620", info.Mode(), err)
	}
	if _, err := s.Listen(a, 0o600); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("a socket that somebody listens on: %v", err)
	}
	edge.Leave(edge.Wrap(l, nil, edge.Options{}))
	s.Close() // nobody listens any more, and the file is still there
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("a socket that was left is gone: %v", err)
	}
	again, err := sockets(t).Listen(a, 0o600)
	if err != nil {
		t.Fatalf("a stale socket is in the way: %v", err)
	}
	again.Close()
}

func TestUnixSocketWhereAFileIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sockets(t).Listen(edge.Address{Network: "unix", Name: path}, 0o600); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "x" {
		t.Error("the file was touched")
	}
}

func TestNoSocketOfThatName(t *testing.T) {
	_, err := sockets(t).Listen(edge.Address{Network: "fd", Name: "http"}, 0)
	if err == nil || !strings.Contains(err.Error(), "passed were none") {
		t.Errorf("got %v", err)
	}
}

// child is what the tests below start: it listens on fd:http and says where, or
// what keeps it from it.
func child() {
	s, err := edge.Inherit()
	if err != nil {
		os.Stdout.WriteString("error " + err.Error())
		return
	}
	l, err := s.Listen(edge.Address{Network: "fd", Name: "http"}, 0)
	if err != nil {
		os.Stdout.WriteString("error " + err.Error())
		return
	}
	os.Stdout.WriteString(l.Addr().String() + " unused " + strings.Join(s.Unused(), ",") + " env " + os.Getenv("LISTEN_FDS"))
}

// systemd passes descriptors from 3 on, to one process, by name.
func TestSocketActivation(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()

	for _, tt := range []struct {
		name, pid, fds, names string
		files                 []*os.File
		want                  string
	}{
		{"by name", "$$", "2", "other:http", []*os.File{f, f}, l.Addr().String() + " unused fd:other env "},
		{"another process's", "1", "1", "http", []*os.File{f}, "error fd:http: no socket of that name"},
		{"another name", "$$", "1", "https", []*os.File{f}, "passed were fd:https"},
		{"without names", "$$", "1", "", []*os.File{f}, "passed were fd:unknown"},
		{"no socket at all", "$$", "1", "http", []*os.File{plain}, "is no listening socket"},
		{"a number that cannot be", "$$", "100000", "http", nil, "at most 256"},
		{"no number", "$$", "many", "http", nil, "passed were none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := exec.Command("/bin/sh", "-c", "LISTEN_PID="+tt.pid+` exec "$0"`, os.Args[0])
			c.Env = append(os.Environ(), "EDGE_TEST_CHILD=1", "LISTEN_FDS="+tt.fds, "LISTEN_FDNAMES="+tt.names)
			c.ExtraFiles = tt.files
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s; want %s", err, out, tt.want)
			}
		})
	}
}
