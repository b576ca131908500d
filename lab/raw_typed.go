package lab

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Typed is a keystroke and what became of it.
type Typed struct {
	Number, Session, Sentence, Word, Prefix int64
	Bucket                                  int    // of the gap that was said of it
	Rung                                    string // that answered
	Reason                                  reason.Reason
	At                                      time.Duration
	Answered                                unit.Instant // if it was
	Primary, General, List                  bool         // whose suggestions hold the word
	Again                                   bool         // it was typed again
}

// Typed keeps a keystroke, kind t: stream is the session, attempt the letters typed,
// class the rung, importance the bucket of its gap, cost the sentence of the session,
// bytes the word of the sentence; ended is -1 if nobody had answered by the end. Flag
// 1, 2, 4: the word is among the suggestions of the scorer, of the model of everybody,
// of the list; 8: it was typed again.
func (a *Arm) Typed(t *Typed) {
	if a == nil {
		return
	}
	flag := int64(0)
	for i, is := range [...]bool{t.Primary, t.General, t.List, t.Again} {
		if is {
			flag |= 1 << i
		}
	}
	ended := t.Answered
	if t.Reason == reason.None {
		ended = -1
	}
	a.row("t", t.Session, t.Number, t.Prefix, t.Rung, "", int64(t.Bucket), t.Sentence, t.Word,
		unit.Instant(t.At), -1, -1, ended, -1, t.Reason, 0, flag)
}
