package edge_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/edge"
)

// successor is the process that the tests below start. It writes what it was told
// where EDGE_TEST_OUT says.
func successor(how string) {
	s, err := edge.Inherit()
	if err != nil {
		os.Exit(1)
	}
	switch how {
	case "silent":
	case "dies":
		os.Exit(1)
	case "asks twice":
		s.State()
		fallthrough
	case "asks":
		state, err := s.State()
		said := fmt.Sprintf("%d bytes %.20s", len(state), state)
		if err != nil {
			said = "error " + err.Error()
		}
		os.WriteFile(os.Getenv("EDGE_TEST_OUT"), []byte(said), 0o600)
	}
	s.Ready()
}

// TestWhatASuccessorIsTold: what the process before it knows at the moment at which
// it asks, be that much or nothing; one that does not ask is told nothing, and both
// are what they are with one of another version.
func TestWhatASuccessorIsTold(t *testing.T) {
	big := strings.Repeat("x", 1<<20) // more than a pipe holds
	for _, c := range []struct {
		how, state string
		asked      int
		want       string
		fails      bool
	}{
		{how: "asks", state: "all there is", asked: 1, want: "12 bytes all there is"},
		{how: "asks", state: "", asked: 1, want: "0 bytes "},
		{how: "asks", state: big, asked: 1, want: "1048576 bytes xxxxxxxxxxxxxxxxxxxx"},
		{how: "asks", state: strings.Repeat(big, 17), asked: 1, want: "error what the process before this one knows is more than"},
		{how: "asks twice", state: "once", asked: 1, want: "error " + edge.ErrNoState.Error()},
		{how: "silent", state: "unwanted"},
		{how: "dies", state: "unwanted", fails: true},
	} {
		out := filepath.Join(t.TempDir(), "out")
		t.Setenv("EDGE_TEST_CHILD", c.how)
		t.Setenv("EDGE_TEST_OUT", out)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		asked := 0
		_, err := sockets(t).Succeed(ctx, os.Args[0], nil, func() []byte { asked++; return []byte(c.state) })
		cancel()
		told, _ := os.ReadFile(out)
		if (err != nil) != c.fails || asked != c.asked || !strings.HasPrefix(string(told), c.want) {
			t.Errorf("%s: %v; asked %d times, told %q, want %q", c.how, err, asked, told, c.want)
		}
	}
}

// A process of an earlier version hands on its sockets and nothing else.
func TestAPredecessorThatHandsOnOnlySockets(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	out := filepath.Join(t.TempDir(), "out")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "EDGE_TEST_CHILD=asks", "EDGE_TEST_OUT="+out, fmt.Sprintf(`SPILLWAY_INHERITED={"pid":%d,"names":[]}`, os.Getpid()))
	c.ExtraFiles = []*os.File{write}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	var said [2]byte
	n, _ := read.Read(said[:])
	told, _ := os.ReadFile(out)
	if n != 1 || said[0] != 1 || string(told) != "error "+edge.ErrNoState.Error() {
		t.Errorf("it said %v and was told %q", said[:n], told)
	}
	if state, err := sockets(t).State(); state != nil || err != nil {
		t.Errorf("a process without one before it: %q, %v", state, err)
	}
}
