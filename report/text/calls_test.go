package text

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/internal/sample"
)

// What retries and hedges add is said where they add something, and nowhere else: a
// class that refuses half of what it is offered makes fewer calls than it has requests,
// with retries too.
func TestCallsOfARequestAreSaid(t *testing.T) {
	base := sample.Overload().Classes["checkout"]
	letIn := report.Share(base.Offered-base.RefusedIn(report.BandCaller)-base.RefusedIn(report.BandOurs), base.Offered)
	if letIn >= 1 || letIn <= 0 {
		t.Fatalf("of the sample's requests %v were let in: it shows nothing", letIn)
	}
	for name, c := range map[string]struct {
		calls report.Number
		said  bool
	}{
		"no call was counted": {0, false}, "fewer calls than were let in": {letIn / 2, false}, "one each": {letIn, false},
		"some twice": {letIn * 1.1, true}, "more than requests": {2.5, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample.Overload()
			r.Classes["checkout"].CallsPerRequest = c.calls
			var got bytes.Buffer
			if err := Write(&got, r, Options{}); err != nil {
				t.Fatal(err)
			}
			want := "Calls for each request, retries and hedges included: checkout " + report.Format(c.calls) + ".\n"
			if said := strings.Contains(got.String(), want); said != c.said {
				t.Errorf("says %q: %v, want %v:\n%s", want, said, c.said, got.String())
			}
		})
	}
}
