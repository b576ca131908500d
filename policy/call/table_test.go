package call

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

// What was done twice has been paid for twice. Down: where an attempt ended;
// across: what is known of the request. "again" is another attempt, anything else
// the reason with which the call ends.
const repeats = `
where it ended                       result   said    | plain     keyed     idempotent  body gone
refused connection                   unsent   -       | again     again     again       failed
TLS handshake failed                 unsent   -       | again     again     again       failed
no connection in time                unsent   late    | again     again     again       timeout
reset after its head was sent        broken   -       | unknown   again     again       unknown
reset after its body was sent        broken   -       | unknown   again     again       unknown
no answer in time                    broken   late    | unknown   again     again       unknown
429 or 503, not executed             refused  -       | again     again     again       failed
429, and says never                  refused  never   | failed    failed    failed      failed
429, and says always                 refused  always  | again     again     again       failed
500                                  fault    -       | failed    again     again       failed
500, and says never                  fault    never   | failed    failed    failed      failed
500, and says always                 fault    always  | failed    again     again       failed
502 or 504                           broken   -       | unknown   again     again       unknown
502, and says always                 broken   always  | unknown   again     again       unknown
502, and says never                  broken   never   | unknown   failed    failed      unknown
its answer has begun, breaks midway  ok       -       | answer    answer    answer      answer
409, and says always                 ok       always  | answer    again     again       answer
422, and says never                  ok       never   | answer    answer    answer      answer
our own refusal                      neutral  -       | answer    answer    answer      answer
panic before it was sent             neutral  -       | answer    answer    answer      answer
`

func TestNothingThatMayHaveRunIsRunAgainBlindly(t *testing.T) {
	kinds := []safety{{}, {keyed: true}, {idempotent: true}, {fixed: true}}
	results := map[string]Result{"ok": OK, "refused": Refused, "unsent": Unsent, "broken": Broken, "fault": Fault, "neutral": Neutral}
	rows := strings.Split(strings.TrimSpace(repeats), "\n")[1:]
	for _, row := range rows {
		left, right, _ := strings.Cut(row, "|")
		words := strings.Fields(left)
		said, result := words[len(words)-1], words[len(words)-2]
		r, known := results[result]
		o := Outcome{Result: r, Never: said == "never", Always: said == "always"}
		want := strings.Fields(right)
		if !known || len(want) != len(kinds) {
			t.Fatalf("cannot read %q", row)
		}
		for i, s := range kinds {
			got := "again"
			switch {
			case s.again(o):
			case r == OK || r == Neutral:
				got = "answer"
			default:
				got = s.reason(o, said == "late").String()
			}
			if got != want[i] {
				t.Errorf("%s: a request that is %+v: %s, want %s", strings.TrimSpace(left), s, got, want[i])
			}
		}
	}
}

// Over all that can be: what is fixed is sent once, a no is obeyed, and what may
// have run is run again only where that is harmless.
func TestNoWordOfAServerMakesARepeatHarmless(t *testing.T) {
	each := []bool{false, true}
	for r := OK; r <= Neutral; r++ {
		for i := range 32 {
			bit := func(n int) bool { return each[i>>n&1] }
			s := safety{idempotent: bit(0), keyed: bit(1), fixed: bit(2)}
			o := Outcome{Result: r, Never: bit(3), Always: bit(4)}
			what := fmt.Sprintf("%+v, %+v", s, o)
			if s.again(o) && (s.fixed || o.Never) {
				t.Errorf("%s is sent again", what)
			}
			if ran := r != Unsent && r != Refused; s.again(o) && ran && !s.idempotent && !s.keyed {
				t.Errorf("%s may have run, and is run again", what)
			}
			if s.twice() != (!s.fixed && (s.idempotent || s.keyed)) {
				t.Errorf("%s: twice is %v", what, s.twice())
			}
			if got := s.reason(o, true); got == reason.Failed {
				t.Errorf("%s is late and has %v", what, got)
			}
		}
	}
}
