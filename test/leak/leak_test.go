package leak_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/spillway-dev/spillway/test/leak"
)

// report is a test that notes what it is told instead of failing.
type report struct {
	testing.TB
	said string
}

func (r *report) Helper()                      {}
func (r *report) Errorf(f string, args ...any) { r.said = fmt.Sprintf(f, args...) }

// Whatever is held more than before is seen, and slack is let be.
func TestWhatIsLeftIsSeen(t *testing.T) {
	before := leak.Held()
	quiet := new(report)
	before.Left(quiet, leak.Slack{Goroutines: 5, Heap: 1 << 20})
	if quiet.said != "" {
		t.Errorf("nothing was left: %s", quiet.said)
	}
	wait := make(chan struct{})
	defer close(wait)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	kept := make([]byte, 8<<20)
	go func() { <-wait }()
	for name, s := range map[string]leak.Slack{
		"a goroutine": {Sockets: 1, Heap: 16 << 20},
		"a socket":    {Goroutines: 9, Heap: 16 << 20},
		"memory":      {Goroutines: 9, Sockets: 1, Heap: 1 << 20},
	} {
		if name == "a socket" && before.Sockets < 0 {
			continue
		}
		r := new(report)
		before.Within(r, s, 0)
		if r.said == "" {
			t.Errorf("%s was not seen", name)
		}
	}
	kept[0] = 1 // alive until here
}
