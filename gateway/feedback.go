package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/observe/quality"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
)

// What may be said of an answer is bounded: its id, and all of the body.
const (
	feedbackMost   = 4 << 10
	feedbackIDMost = 256
)

// opinion is what is said of an answer: by its request id, one of the two.
type opinion struct {
	ID       string   `json:"id"`
	Score    *float64 `json:"score"`
	Accepted *bool    `json:"accepted"`
}

// feedback takes in what is said of an answer: 204, or 404 for one that is not
// remembered (any more), or of which something was said before.
func (g *Gateway) feedback(w http.ResponseWriter, r *http.Request) {
	if !g.config().Admin.Guarded() && !local(r.RemoteAddr) {
		http.Error(w, "without admin.token or admin.tls.client_ca, feedback is taken from this machine only", http.StatusForbidden)
		return
	}
	o, err := readOpinion(http.MaxBytesReader(w, r.Body, feedbackMost))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !g.quality.Judge(o.ID, *o.Score) {
		http.Error(w, "nothing is remembered of an answer with that id: it is of a class without a ladder, too long ago, or was judged before", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readOpinion returns an opinion with its score filled in.
func readOpinion(body io.Reader) (o opinion, err error) {
	const fix = `; write {"id": "X-Request-Id of the answer", "score": 0.7} or "accepted": true`
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("the body is no opinion: %w%s", err, fix)
	}
	switch {
	case d.More():
		return o, errors.New("the body has more than one opinion" + fix)
	case o.ID == "" || len(o.ID) > feedbackIDMost:
		return o, errors.New("id is missing or too long" + fix)
	case (o.Score == nil) == (o.Accepted == nil):
		return o, errors.New("one of score and accepted is needed" + fix)
	case o.Score != nil && !(*o.Score >= 0 && *o.Score <= 1):
		return o, fmt.Errorf("score is %v, and must be from 0 to 1%s", *o.Score, fix)
	case o.Accepted != nil:
		o.Score = new(float64)
		if *o.Accepted {
			*o.Score = 1
		}
	}
	return o, nil
}

// answeredBy notes that a request of a class with a ladder was answered, by the primary
// (rung -1) or a rung below it.
func (g *Gateway) answeredBy(r *http.Request, c *class, rung int, gap shed.Gap, why reason.Reason) {
	g.quality.Remember(r.Header.Get("X-Request-Id"), c.ladder.quality[rung+1].Of(gap, why == reason.ShedForLoad))
}

// qualityState is what is said of a rung's answers to requests of one bucket, as
// /debug/pools shows it. Gap, mean and error are from 0 to 1.
type qualityState struct {
	Rung    string   `json:"rung"`
	Gap     float64  `json:"gap"` // the least of the bucket
	Shed    bool     `json:"shed"`
	Answers int64    `json:"answers"`
	Judged  int64    `json:"judged"`
	Mean    *float64 `json:"mean"` // null: nothing was said
	Error   float64  `json:"error"`
}

func (g *Gateway) qualityOf(class string) []qualityState {
	all := []qualityState{}
	for _, f := range g.quality.Figures(class) {
		q := qualityState{Rung: f.Rung, Gap: float64(f.Gap) / float64(shed.Useless), Shed: f.Shed, Answers: f.Answers, Judged: f.Judged, Error: f.Error}
		if f.Judged > 0 {
			q.Mean = &f.Mean
		}
		all = append(all, q)
	}
	return all
}

// qualityWritten bounds what the text page shows of a class; the JSON one has all.
const qualityWritten = 20

func writeQuality(w io.Writer, all []qualityState) {
	judged := 0
	for _, q := range all {
		if q.Mean == nil {
			continue
		}
		if judged++; judged > qualityWritten {
			continue
		}
		how := ""
		if q.Shed {
			how = ", shed for load"
		}
		fmt.Fprintf(w, "  quality   %s at a gap from %s%s: %s, give or take %s, of %d judged of %d\n",
			q.Rung, thousandths(q.Gap), how, thousandths(*q.Mean), thousandths(q.Error), q.Judged, q.Answers)
	}
	if rest := judged - qualityWritten; rest > 0 {
		fmt.Fprintf(w, "  and %d more\n", rest)
	}
}

// qualityMetrics is what a scrape sees of all classes in force that have a ladder.
func (g *Gateway) qualityMetrics() (all []observe.Quality) {
	for _, c := range g.current.Load().classes {
		if c.ladder != nil {
			all = append(all, observe.Quality{Resource: c.upstream.name, Class: c.name, Figures: g.quality.Figures(c.name)})
		}
	}
	return all
}

// judged returns the figures of the class's rungs, the primary's first.
func (g *Gateway) judged(c *class) (all []*quality.Rung) {
	if c.ladder == nil {
		return nil
	}
	all = append(all, g.quality.Rung(c.name, rungPrimary[0]))
	for i := range c.ladder.Len() {
		all = append(all, g.quality.Rung(c.name, c.ladder.Name(i)))
	}
	return all
}
