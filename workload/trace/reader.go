package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
	"github.com/spillway-dev/spillway/workload/internal/lines"
)

// Options of a Reader. The zero value reads a file whose header a preset knows.
type Options struct {
	Mapping Mapping         // what it names goes before what the preset says
	Names   *workload.Names // where classes and tenants are numbered; default a table of its own
	Class   string          // of lines that name none
	Seed    uint64          // for what is drawn: arrivals within counted windows, spread, scale
	Speed   float64         // time passes so many times as fast; default 1
	Scale   float64         // so many times as many requests; default 1
	Window  int             // lines held to bring them into order; default 65,536
}

// Reader is a workload.Source of the requests in a trace. The first arrives at
// 0 (in a trace of counts, the first window starts there). It is not safe for
// concurrent use.
type Reader struct {
	options Options
	name    string
	file    io.Closer
	lines   *lines.Reader
	layout  layout
	mapping Mapping
	bound   binding
	spread  *dice.Dice
	first   []byte // the first line, where it is no header

	row    [][]byte
	sorter sorter
	drawn  drawing // the window of counts being drawn
	zero   int64   // the instant of At = 0
	last   int64   // of what was emitted last
	begun  bool
	n      int64
	source workload.Source // r itself, scaled and sped up
	stats  Stats
	err    error
}

// Stats says what a Reader has met so far.
type Stats struct {
	Rows    int64         // usable lines, those left out by "only" included
	Left    int64         // lines left out by "only"
	Damaged int64         // lines that could not be used
	First   []Damage      // the first few of them
	Late    int64         // lines that came too late to be put into order, offered at once
	Start   time.Time     // of the first arrival (of the first window, in a trace of counts); zero if the trace has no dates
	Span    time.Duration // from the first arrival to the last one so far, as recorded: before speed and scale
}

// Damage is one line that could not be used.
type Damage struct {
	Line   int64
	Reason string
}

// keptDamages is how many damaged lines Stats names.
const keptDamages = 5

// String says in one line what was damaged; empty if nothing was.
func (s Stats) String() string {
	if s.Damaged == 0 {
		return ""
	}
	text := fmt.Sprintf("%d damaged lines of %d", s.Damaged, s.Damaged+s.Rows)
	for i, d := range s.First {
		text += fmt.Sprintf("%s line %d: %s", []string{":", ";"}[min(i, 1)], d.Line, d.Reason)
	}
	return text
}

// Open reads the trace in a file.
func Open(path string, options Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := New(f, path, options)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// New reads a trace from in; name is what errors call it. It reads the header
// and reports what is wrong with it or with the mapping.
func New(in io.Reader, name string, options Options) (*Reader, error) {
	options.Speed = cmp.Or(options.Speed, 1)
	options.Scale = cmp.Or(options.Scale, 1)
	if options.Window = cmp.Or(options.Window, 1<<16); options.Window < 1 || options.Window > 1<<24 {
		return nil, fmt.Errorf("trace %s: a window of %d lines: must be from 1 to 16,777,216", name, options.Window)
	}
	if options.Names == nil {
		options.Names = workload.NewNames()
	}
	r := &Reader{options: options, name: name, last: math.MinInt64, spread: dice.New(options.Seed, "trace/spread")}
	r.drawn.dice = dice.New(options.Seed, "trace/count")
	if err := r.open(in); err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	var err error
	r.source = workload.SourceFunc(r.next)
	if options.Scale != 1 && r.mapping.expr[count] == "" {
		if r.source, err = workload.Scale(r.source, options.Scale, options.Seed, "trace"); err != nil {
			return nil, err
		}
	} else if !(options.Scale >= 1e-6 && options.Scale <= 1e6) {
		return nil, fmt.Errorf("scale %v: must be from 0.000001 to 1,000,000", options.Scale)
	}
	if options.Speed != 1 {
		if r.source, err = workload.Speed(r.source, options.Speed); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Reader) open(in io.Reader) error {
	var err error
	if r.lines, err = lines.New(in); err != nil {
		return err
	}
	line, err := r.lines.Next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	} else if err != nil {
		return err
	}
	hasHeader := r.options.Mapping.header != "no"
	if r.layout, err = layoutOf(line, hasHeader); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if !hasHeader || r.layout.delimiter == 0 {
		r.first = append([]byte{}, line...)
	}
	r.mapping = r.options.Mapping
	if p, known := recognise(r.layout.columns); known {
		r.mapping = r.mapping.over(p.mapping)
	}
	r.bound, err = bind(r.mapping, r.layout.columns)
	return err
}

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Mapping returns what the columns mean, the preset's part included.
func (r *Reader) Mapping() Mapping { return r.mapping }

// Names returns the tables in which the reader numbers classes and tenants.
func (r *Reader) Names() *workload.Names { return r.options.Names }

// Stats returns what was met so far.
func (r *Reader) Stats() Stats { return r.stats }

// Err returns why the trace ended early, or that it had no usable line.
func (r *Reader) Err() error { return r.err }

// Next returns the next request, scaled and sped up.
func (r *Reader) Next(a *workload.Arrival) bool { return r.source.Next(a) }

// next returns the next request as recorded.
func (r *Reader) next(a *workload.Arrival) bool {
	for !r.drawn.next(&r.last, a) {
		p, more := r.pull()
		if !more {
			return false
		}
		if r.begun && p.at < r.last {
			r.stats.Late++
			p.at = r.last
		}
		if !r.begun {
			r.begun, r.zero = true, p.at
			if p.dated {
				r.stats.Start = time.Unix(0, p.at).UTC()
			}
		}
		if r.bound.terms[count] == nil {
			r.last, *a = p.at, p.arrival
			break
		}
		r.drawn.start(p, r.mapping.per, r.options.Scale)
	}
	a.At = time.Duration(r.last - r.zero)
	a.N = r.n
	r.n++
	r.stats.Span = a.At
	return true
}

// pull returns the earliest of the lines in the window.
func (r *Reader) pull() (pending, bool) {
	for r.lines != nil && len(r.sorter.heap) < r.options.Window {
		p, err := r.read()
		if err == nil {
			r.sorter.push(p)
			continue
		}
		r.lines = nil
		if !errors.Is(err, io.EOF) {
			r.err = fmt.Errorf("trace %s: after %d usable lines: %w", r.name, r.stats.Rows, err)
		} else if r.stats.Rows == 0 {
			r.err = fmt.Errorf("trace %s: not one usable line (%s)", r.name, cmp.Or(r.stats.String(), "there is only a header"))
		} else if r.stats.Rows == r.stats.Left {
			r.err = fmt.Errorf("trace %s: only=%s leaves out all %d lines", r.name, r.mapping.only, r.stats.Rows)
		}
	}
	return r.sorter.pop()
}
