package httpgate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/resend"
	policy "github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// statusError is what an answer comes to that is a failure, until somebody reads it.
type statusError int

// Error is the status in words.
func (s statusError) Error() string {
	return fmt.Sprintf("answered %d %s", int(s), http.StatusText(int(s)))
}

// grpcError is the same of a status of gRPC.
type grpcError uint32

// Error is the status in words.
func (s grpcError) Error() string { return fmt.Sprintf("answered with gRPC status %d", uint32(s)) }

// answered says what an attempt that was answered came to: nil for an answer that is one.
func answered(resp *http.Response, grpc, repeatedKey bool) error {
	if grpc && resp.StatusCode == http.StatusOK {
		return answeredInGRPC(resp)
	}
	said := policy.ReadPushback(resp.Header.Get, time.Now())
	r := resultOf(resp, said, repeatedKey)
	if r == policy.OK && resp.StatusCode < 400 {
		return nil
	}
	o := said.Outcome(r)
	if o == (policy.Outcome{}) {
		return nil
	}
	return &caller.Error{Outcome: o, Err: statusError(resp.StatusCode)}
}

// answeredInGRPC does so by a status that comes with the headers, that is without an
// answer. One that comes in the trailers is the client's to read.
func answeredInGRPC(resp *http.Response) error {
	said := resp.Header.Get("Grpc-Status")
	if said == "" || said == "0" {
		return nil
	}
	code, err := strconv.ParseUint(said, 10, 32)
	if err != nil {
		code = unknownInGRPC
	}
	o := policy.GRPC{
		Code: uint32(code), Message: resp.Header.Get("Grpc-Message"), Reason: resp.Header.Get(HeaderReason),
		Said: policy.ReadPushback(resp.Header.Get, time.Now()),
	}.Outcome()
	if o == (policy.Outcome{}) {
		return nil
	}
	return &caller.Error{Outcome: o, Err: grpcError(code)}
}

// unknownInGRPC is what a status comes to that is none.
const unknownInGRPC = 2

// resultOf says what a status means for the call.
func resultOf(resp *http.Response, said policy.Pushback, repeatedKey bool) policy.Result {
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests, s == statusOverloaded:
		return policy.Refused
	case s == http.StatusServiceUnavailable && (said.Asked || said.Never):
		return policy.Refused
	case s == http.StatusServiceUnavailable:
		return policy.Busy
	case s == http.StatusGatewayTimeout && resp.Header.Get(HeaderReason) == reason.Expired.String():
		return policy.Refused // its time ran out in the queue: it did not run
	case s == http.StatusConflict && repeatedKey && resp.Header.Get("Retry-After") != "":
		return policy.Refused // our own first attempt still runs; its answer will be there
	case s == http.StatusBadGateway, s == http.StatusGatewayTimeout:
		return policy.Broken
	case s == http.StatusNotImplemented, s == http.StatusHTTPVersionNotSupported:
		return policy.OK // it will be no other
	case s >= 500:
		return policy.Fault
	}
	return policy.OK
}

// statusOverloaded is what Anthropic's API answers when it is overloaded.
const statusOverloaded = 529

// clientError says what an attempt came to that was not answered.
func (x *outgoing) clientError(err error, s *resend.Sending) error {
	if _, said := errors.AsType[*caller.Error](err); said {
		return err // the base knows
	}
	_, seen := x.transport.base.(*http.Transport) // of another base not all is
	switch {
	case x.body.failed():
		return caller.Neutral(err) // what was to be sent could not be read
	case seen && !s.Asked():
		return caller.Neutral(err) // the request is none that can be sent
	case s.Unsent(), unprocessed(err), isCertificate(err):
		return caller.Unsent(err)
	case caller.DefaultOutcome(err).Result == policy.Fault:
		return caller.Broken(err) // it was sent, and there is no answer
	}
	return err
}

func isCertificate(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// unprocessed reports whether an HTTP/2 server has said that it did not process the
// request (REFUSED_STREAM, or a GOAWAY that leaves it out), which net/http, kept from
// sending it again, says in no other way.
func unprocessed(err error) bool {
	return strings.Contains(err.Error(), "http2: Transport: cannot retry err")
}
