package grpcgate

import (
	"strconv"
	"strings"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/internal/told"
	"github.com/spillway-dev/spillway/policy/reason"
)

// The metadata of every answer: in the header of one that was served, else in the
// trailer.
const (
	MetadataRung   = "spillway-rung"
	MetadataReason = "spillway-reason"
)

// MetadataPushback is what clients' retry policies obey (gRFC A6): milliseconds to
// wait before the next attempt, or a negative number for no other attempt.
const MetadataPushback = "grpc-retry-pushback-ms"

// Domain is the domain of the ErrorInfo in a refusal's details.
const Domain = "github.com/spillway-dev/spillway"

// Status returns what a refusal is on the wire: the reason's code, with
// RetryInfo unless the request is not to be sent again, and with an ErrorInfo
// whose reason is ours in the form that its definition asks for (QUEUE_FULL), and
// whose metadata names the class. It tells nothing of the gate's insides.
func Status(refused gate.Refusal) *status.Status {
	st, _ := answer(refused)
	return st
}

// answer returns status and trailer, which say the same to the millisecond.
func answer(refused gate.Refusal) (*status.Status, metadata.MD) {
	t := told.Of(refused.Reason)
	p := &spb.Status{Code: int32(t.GRPC), Message: t.Detail, Details: make([]*anypb.Any, 1, 2)}
	p.Details[0] = infos.of(refused)
	trailer := metadata.MD{MetadataRung: rungRefusal, MetadataReason: reasons[refused.Reason], MetadataPushback: noPushback}
	if !t.Never {
		after := told.After(refused.RetryAfter)
		p.Details = append(p.Details, pack(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)}))
		trailer[MetadataPushback] = []string{strconv.FormatInt(after.Milliseconds(), 10)}
	}
	return status.FromProto(p), trailer
}

// Values that never change are shared; grpc copies metadata that it is handed.
var (
	rungRefusal = []string{told.RungRefusal}
	noPushback  = []string{"-1"}
	servedMD    = metadata.Pairs(MetadataRung, told.RungPrimary, MetadataReason, reason.Served.String())
	reasons     = func() (all [reason.Count][]string) {
		for r := range all {
			all[r] = []string{reason.Reason(r).String()}
		}
		return all
	}()
)

// infos holds the ErrorInfo of every refusal that there has been, encoded: one for
// each class and reason, so that it is bounded by configuration.
var infos infoTable

type infoTable struct {
	mu   sync.RWMutex
	made map[infoKey]*anypb.Any
}

type infoKey struct {
	class string
	why   reason.Reason
}

func (t *infoTable) of(refused gate.Refusal) *anypb.Any {
	key := infoKey{refused.Class, refused.Reason}
	t.mu.RLock()
	a := t.made[key]
	t.mu.RUnlock()
	if a != nil {
		return a
	}
	a = pack(&errdetails.ErrorInfo{
		Reason:   strings.ToUpper(refused.Reason.String()),
		Domain:   Domain,
		Metadata: map[string]string{"class": strings.ToValidUTF8(refused.Class, "\ufffd")},
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made == nil {
		t.made = make(map[infoKey]*anypb.Any)
	}
	t.made[key] = a
	return a
}

func pack(m proto.Message) *anypb.Any {
	a, _ := anypb.New(m) // an error would be text that is not UTF-8, which there is none of
	return a
}

// overdueError is what a handler is told that goes on after its caller was
// answered.
var overdueError = status.Error(codes.DeadlineExceeded, told.Of(reason.Timeout).Detail)
