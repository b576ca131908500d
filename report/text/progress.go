package text

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/spillway-dev/spillway/report"
)

// progressEvery bounds how often a line is drawn: 5 Hz is as often as an eye
// can read it.
const progressEvery = 200 * time.Millisecond

// Progress writes one line that is drawn over and over: elapsed, share done,
// rate, lag. It is silent where it does not write to a terminal, unless asked.
// It is not safe for concurrent use; a nil *Progress does nothing.
type Progress struct {
	w      io.Writer
	width  int
	inline bool // a terminal: the line is drawn over
	every  time.Duration
	last   time.Duration
	drawn  bool
}

// NewProgress returns a progress line on f, most often stderr; nil, which is
// silent, where f is no terminal and force is false. Forced onto something
// else it writes a line of its own every ten seconds.
func NewProgress(f *os.File, force bool) *Progress {
	switch {
	case term.IsTerminal(int(f.Fd())):
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			width = 80
		}
		return newProgress(f, true, min(width-1, DefaultWidth))
	case force:
		return newProgress(f, false, DefaultWidth)
	default:
		return nil
	}
}

func newProgress(w io.Writer, inline bool, width int) *Progress {
	p := &Progress{w: w, width: width, inline: inline, every: progressEvery}
	if !inline {
		p.every = 10 * time.Second
	}
	return p
}

// State is what a progress line shows. Fields that are not known are left out.
type State struct {
	What  string        // "sim", "warm-up", "spillway in front"
	Share float64       // done, 0 to 1; negative where unknown
	PerS  float64       // requests a second of elapsed time; 0 unknown
	Lag   time.Duration // behind the schedule; negative where there is none
	Note  string
}

// Update draws the state elapsed after the start, at most five times a second;
// calls in between cost a comparison.
func (p *Progress) Update(elapsed time.Duration, s State) {
	if p == nil || p.drawn && elapsed-p.last < p.every {
		return
	}
	p.last, p.drawn = elapsed, true
	line := fit(Clean(s.line(elapsed)), p.width)
	if p.inline {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line) // a line that cannot be drawn harms nothing
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// Clear takes the line away, so that what follows starts on an empty one.
func (p *Progress) Clear() {
	if p == nil || !p.drawn {
		return
	}
	if p.inline {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.drawn = false
}

func (s State) line(elapsed time.Duration) string {
	parts := []string{fmt.Sprintf("%5.1f s", elapsed.Seconds())}
	if s.What != "" {
		parts[0] = s.What + " " + parts[0]
	}
	if s.Share >= 0 {
		parts = append(parts, fmt.Sprintf("%3.0f %%", min(s.Share, 1)*100))
	}
	if s.PerS > 0 {
		parts = append(parts, report.FormatRate(report.Number(s.PerS)))
	}
	if s.Lag >= 0 {
		parts = append(parts, "lag "+report.FormatMs(report.Ms(int64(s.Lag))))
	}
	if s.Note != "" {
		parts = append(parts, s.Note)
	}
	return strings.Join(parts, "  ")
}
