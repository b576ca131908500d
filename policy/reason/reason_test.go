package reason

import (
	"errors"
	"fmt"
	"testing"
)

// The closed set, as headers, labels and reports show it. A change here is a
// change of every one of them.
func TestTheClosedSet(t *testing.T) {
	want := map[Kind][]string{
		KindDone:   {"served", "accepted"},
		KindOurs:   {"shed_for_load", "queue_full", "queue_bytes", "infeasible", "draining", "operator", "ledger_unavailable"},
		KindCaller: {"rate_limited", "tenant_full", "quota_requests", "quota_tokens", "quota_concurrency"},
		KindDrop:   {"dropped"},
		KindQueue:  {"expired", "block_timeout", "evicted", "caller_gone"},
		KindCall:   {"timeout", "unknown", "failed", "breaker_open"},
		KindInput:  {"bad_request", "unauthorized", "too_large", "key_in_progress", "key_conflict"},
	}
	n := 0
	for kind, names := range want {
		for _, name := range names {
			n++
			r, err := Parse(name)
			switch {
			case err != nil:
				t.Error(err)
			case r.String() != name:
				t.Errorf("%q is read as %v", name, r)
			case r.Kind() != kind:
				t.Errorf("%v is of kind %d, want %d", r, r.Kind(), kind)
			case r.AtAdmission() != (kind == KindOurs || kind == KindCaller || kind == KindDrop):
				t.Errorf("%v at admission: %v", r, r.AtAdmission())
			}
		}
	}
	if all := All(); n != len(all) || n != Count-1 {
		t.Errorf("%d reasons are specified, All has %d, Count is %d", n, len(all), Count)
	}
}

func TestNothingElseIsAReason(t *testing.T) {
	for _, name := range []string{"", "none", "Served", " served", "served\n", "shed", "reason(3)"} {
		if r, err := Parse(name); err == nil {
			t.Errorf("%q is read as %v", name, r)
		}
	}
}

func TestWhatIsNoReasonDoesNoHarm(t *testing.T) {
	r := Reason(Count)
	if r.Kind() != KindNone || r.AtAdmission() || r.String() != fmt.Sprintf("reason(%d)", Count) {
		t.Errorf("beyond the last: %v, kind %d", r, r.Kind())
	}
	if None.Kind() != KindNone || None.String() != "none" {
		t.Errorf("none is %v of kind %d", None, None.Kind())
	}
}

func TestAReasonIsAnErrorToLookFor(t *testing.T) {
	err := fmt.Errorf("acquire: %w", QueueFull)
	if !errors.Is(err, QueueFull) || errors.Is(err, TenantFull) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("served")
	f.Add("queue_full ")
	f.Fuzz(func(t *testing.T, name string) {
		if r, err := Parse(name); err == nil && r.String() != name {
			t.Errorf("%q is read as %v", name, r)
		}
	})
}
