package caller_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

func TestWhatAnErrorMeans(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}
	read := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for _, k := range []struct {
		err  error
		want call.Outcome
	}{
		{nil, call.Outcome{}},
		{caller.Refused(errDown, 3*ms), call.Outcome{Result: call.Refused, After: 3 * ms}},
		{caller.Refused(errDown, -1), call.Outcome{Result: call.Refused}},
		{caller.Never(errDown), call.Outcome{Result: call.Fault, Never: true}},
		{caller.Never(caller.Refused(errDown, ms)), call.Outcome{Result: call.Refused, After: ms, Never: true}},
		{fmt.Errorf("while asking: %w", caller.Unsent(io.EOF)), call.Outcome{Result: call.Unsent}},
		{caller.Fault(io.EOF), call.Outcome{Result: call.Fault}},
		{caller.Neutral(io.EOF), call.Outcome{Result: call.Neutral}},
		{dial, call.Outcome{Result: call.Unsent}},
		{&net.DNSError{Err: "no such host"}, call.Outcome{Result: call.Unsent}},
		{syscall.ECONNREFUSED, call.Outcome{Result: call.Unsent}},
		{read, call.Outcome{Result: call.Broken}},
		{io.ErrUnexpectedEOF, call.Outcome{Result: call.Broken}},
		{context.DeadlineExceeded, call.Outcome{Result: call.Broken}},
		{os.ErrDeadlineExceeded, call.Outcome{Result: call.Broken}},
		{timeout{}, call.Outcome{Result: call.Broken}},
		{context.Canceled, call.Outcome{Result: call.Neutral}},
		{&gate.Refusal{Reason: reason.Expired}, call.Outcome{Result: call.Neutral}},
		{&caller.Failure{Reason: reason.Timeout, Last: io.EOF}, call.Outcome{Result: call.Neutral}},
		{errDown, call.Outcome{Result: call.Fault}},
	} {
		if got := caller.DefaultOutcome(k.err); got != k.want {
			t.Errorf("%v: %+v, want %+v", k.err, got, k.want)
		}
	}
}

type timeout struct{}

func (timeout) Error() string   { return "slow" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestClassify(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, n := open(t, call.Policy{Retries: 1, Budget: unlimited}, caller.Classify(func(err error) call.Outcome {
			if errors.Is(err, errDown) {
				return call.Outcome{Result: call.Unsent}
			}
			return caller.DefaultOutcome(err)
		})), 0
		caller.Do(t.Context(), c, caller.Request{}, func(context.Context, caller.Attempt) (int, error) { n++; return 0, errDown })
		if n != 2 {
			t.Errorf("%d attempts, want 2", n)
		}
	})
}
