package gateway

import (
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
)

// session is whose experience must not flicker, as a key; 0 is nobody's.
func (c *class) session(r *http.Request) uint64 {
	if key := c.cfg.Session.Key; key.IsZero() {
		return 0
	} else if s := extract(key, r); s != "" {
		return gate.SessionKey(s)
	}
	return 0
}

// letThrough returns the class as it is for a request that runs whatever was
// decided of it. Nothing of the class's is done to such a call: it is not timed
// out, and is told no deadline but the one that its caller named. What would have
// become of the request is said on its answer, and in the log if it would have
// been refused.
func (g *Gateway) letThrough(w http.ResponseWriter, r *http.Request, c *class, p gate.Permit) *class {
	if would := httpgate.MarkShadow(w.Header(), p, c.name); would.Reason != reason.None {
		g.log.wouldRefuse(r, would)
	}
	return c.ungoverned()
}

// prepareUngoverned prepares the class as letThrough returns it. It is made when it is
// first needed, once the class is complete.
func (c *class) prepareUngoverned() *class {
	c.ungoverned = sync.OnceValue(func() *class {
		k := *c
		k.timeout, k.passDeadline, k.ladder, k.calls = 0, false, nil, nil
		return &k
	})
	c.alone = sync.OnceValue(func() *class {
		k := *c
		k.ladder = nil
		return &k
	})
	return c
}

// shadowState is what a class's policy made of all requests that it was asked
// about, where that was not all carried out.
type shadowState struct {
	Offered   int64            `json:"offered,omitempty"`
	Answered  map[string]int64 `json:"answered,omitempty"`
	Waiting   int64            `json:"waiting,omitempty"`
	Running   int64            `json:"running,omitempty"`
	SlotsUsed int              `json:"slots_used,omitempty"`
}

func shadowOf(s *boundary.ClassState) shadowState {
	if s.Shadow == nil {
		return shadowState{}
	}
	t := &s.Shadow.Tally
	return shadowState{t.Offered, countsOf(t), t.Waiting, t.Running, s.Shadow.Used}
}

func countsOf(t *tally.Tally) map[string]int64 {
	m := make(map[string]int64)
	for why, n := range t.Answered {
		if n > 0 {
			m[reason.Reason(why).String()] = n
		}
	}
	return m
}

// modeOf is the class's mode as a file writes it.
func modeOf(s *boundary.ClassState) string {
	if s.Mode.Kind == boundary.Part {
		return number(float64(s.Mode.Share)*100/chance.Whole) + "%"
	}
	return s.Mode.Kind.String()
}

func (p *poolState) writeShadow(w io.Writer) {
	if p.Mode != boundary.Enforce.String() {
		fmt.Fprintf(w, "  mode      %s\n", p.Mode)
	}
	if sh := &p.Shadow; sh.Offered > 0 {
		fmt.Fprintf(w, "  shadow    %d decided%s; would hold %d slots, %d would wait\n", sh.Offered, counts(sh.Answered), sh.SlotsUsed, sh.Waiting)
	}
}
