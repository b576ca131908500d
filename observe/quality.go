package observe

import (
	"strconv"

	"github.com/spillway-dev/spillway/observe/quality"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Quality is what is known at a scrape of what is said of a class's answers.
type Quality struct {
	Resource, Class string
	Figures         []quality.Figure
}

var (
	perRung         = []string{"resource", "class", "rung", "gap", "shed"}
	feedbackAnswers = Definition{"spillway_feedback_answers_total", "counter", perRung, "Answers of classes with a ladder, of which something may be said, by rung, by the least gap of the request's bucket, and by whether it was shed for load. Quality is compared within a bucket: over all of them who is shed is not like who is not."}
	feedbackJudged  = Definition{"spillway_feedback_judged_total", "counter", perRung, "Those of which something was said (POST /feedback)."}
	feedbackScore   = Definition{"spillway_feedback_score_ratio", "gauge", perRung, "The mean of what was said, from 0 (useless) to 1; none while nothing was."}
)

// quality adds what is said of the answers of each class.
func (s sink) quality(all []Quality) {
	for i := range all {
		q := &all[i]
		for _, f := range q.Figures {
			shedFor := "no"
			if f.Shed {
				shedFor = "yes"
			}
			labels := []string{q.Resource, q.Class, f.Rung, strconv.FormatFloat(float64(f.Gap)/float64(shed.Useless), 'f', 3, 64), shedFor}
			s.add(&feedbackAnswers, float64(f.Answers), labels...)
			s.add(&feedbackJudged, float64(f.Judged), labels...)
			if f.Judged > 0 {
				s.add(&feedbackScore, f.Mean, labels...)
			}
		}
	}
}
