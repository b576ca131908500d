package observe

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// callersFake is what a gateway has seen of its callers.
type callersFake struct{}

func (callersFake) EachKnown(f func(string, int64)) { f("jwt", 7); f("nobody", 2) }
func (callersFake) EachFailed(f func(string, string, int64)) {
	f("jwt", "expired", 1)
}
func (callersFake) EachLowered(f func(string, int64)) { f("importance", 3) }
func (callersFake) EachMalformed(f func(int64))       { f(4) }

func (s *source) ClientsForgotten() int64 { return 5 }

func TestWhatIsKnownOfCallersIsShown(t *testing.T) {
	m := New(Options{})
	m.Watch("app", new(source))
	if n, err := testutil.GatherAndCount(m.registry, "spillway_callers_total"); n != 0 || err != nil {
		t.Errorf("%d series, %v, of a gateway that knows nobody", n, err)
	}
	m.Callers.Show(callersFake{})
	const want = `# HELP spillway_proofs_failed_total Proofs of who asks that did not hold, by their kind and why.
# TYPE spillway_proofs_failed_total counter
spillway_proofs_failed_total{failure="expired",source="jwt"} 1
# HELP spillway_claims_lowered_total Claims above what their caller may make, which were lowered to that.
# TYPE spillway_claims_lowered_total counter
spillway_claims_lowered_total{claim="importance"} 3
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), "spillway_proofs_failed_total", "spillway_claims_lowered_total"); err != nil {
		t.Error(err)
	}
}
