package live

import (
	"fmt"
	"io"

	"github.com/spillway-dev/spillway/lab/parts"
)

// The parts.
const (
	Scorer  = "scorer"
	Gateway = "gateway"
	Tester  = "tester"
)

// Part is what a process does that was started as a part of a round: see parts.Serve.
func Part(name string, in io.Reader, out io.Writer) error {
	p := map[string]parts.Part[spec]{
		Scorer: &scorerPart{Trouble: parts.NewTrouble()}, Gateway: &gatewayPart{Trouble: parts.NewTrouble()}, Tester: &testerPart{Trouble: parts.NewTrouble()},
	}[name]
	if p == nil {
		return fmt.Errorf("part %q: it is scorer, gateway or tester, and started by spillway lab strip --live", name)
	}
	return parts.Serve(name, p, in, out)
}
