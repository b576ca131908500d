package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/reason"
)

// refusalsShown is how many refusals of a class and reason are logged a second
// at level info; the rest are counted in the next line. At debug all are.
const refusalsShown = 5

// pathShown is how many bytes of a path are logged.
const pathShown = 200

// journal is the gateway's log.
type journal struct {
	*slog.Logger
	sample *observe.Sampler[refusalKind]
}

type refusalKind struct {
	class  string
	reason reason.Reason
	shadow bool // it was not carried out
}

func newJournal(l *slog.Logger) *journal {
	return &journal{l, observe.NewSampler[refusalKind](refusalsShown)}
}

// refused logs a refusal, if it is one of the sample.
func (j *journal) refused(r *http.Request, refused gate.Refusal) {
	j.refusal(r, refused, refusalKind{class: refused.Class, reason: refused.Reason})
}

// wouldRefuse logs a refusal that was not carried out.
func (j *journal) wouldRefuse(r *http.Request, refused gate.Refusal) {
	j.refusal(r, refused, refusalKind{refused.Class, refused.Reason, true})
}

func (j *journal) refusal(r *http.Request, refused gate.Refusal, kind refusalKind) {
	ctx := context.Background()
	if refused.Reason == reason.Failed || !j.Enabled(ctx, slog.LevelInfo) {
		return // failures have a line of their own
	}
	show, withheld := j.sample.Sample(time.Now(), kind)
	if withheld > 0 {
		j.withheld(kind, withheld)
	}
	level := slog.LevelInfo
	if !show {
		level = slog.LevelDebug
		if !j.Enabled(ctx, level) {
			return // and what the line would say is not put together
		}
	}
	j.LogAttrs(ctx, level, kind.what(),
		slog.String("class", refused.Class), slog.String("reason", refused.Reason.String()),
		slog.String("request", identify(r)), slog.Duration("retry_after", refused.RetryAfter.Round(time.Millisecond)),
		slog.String("method", observe.Printable(r.Method, 20)), slog.String("path", observe.Printable(r.URL.Path, pathShown)))
}

func (k refusalKind) what() string {
	if k.shadow {
		return "would be refused"
	}
	return "refused"
}

func (j *journal) withheld(kind refusalKind, n int) {
	j.LogAttrs(context.Background(), slog.LevelInfo, kind.what()+", not shown one by one",
		slog.String("class", kind.class), slog.String("reason", kind.reason.String()), slog.Int("requests", n))
}

// failed logs why the upstream did not answer, sampled like refusals.
func (j *journal) failed(x *exchange, err error) {
	kind := refusalKind{class: x.class.name, reason: reason.Failed}
	show, withheld := j.sample.Sample(time.Now(), kind)
	if withheld > 0 {
		j.withheld(kind, withheld)
	}
	if !show {
		return
	}
	j.LogAttrs(context.Background(), slog.LevelWarn, "call failed",
		slog.String("class", x.class.name), slog.String("upstream", x.class.upstream.name),
		slog.String("request", identify(x.in)), slog.String("error", err.Error()))
}

// flush logs what was withheld last.
func (j *journal) flush() {
	for kind, n := range j.sample.Flush() {
		j.withheld(kind, n)
	}
}
