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
	"github.com/spillway-dev/spillway/workload/record"
)

// Options of a Reader. The zero value reads a file whose header a preset knows.
type Options struct {
	Mapping Mapping         // what it names goes before what the preset says
	Names   *workload.Names // where classes and tenants are numbered; default a table of its own
	Class   string          // of lines that name none
	Seed    uint64          // for what is drawn: arrivals within counted windows, spread, scale
	Speed   float64         // time passes so many times as fast; default 1
	Scale   float64         // so many times as many requests; default 1
	Window  int             // lines held to bring them into order; default 65,536, of a recording 262,144

	// Format is that of an access log, as accesslog.ParseFormat reads it;
	// "mapping" for lines of values or JSON objects, whose meaning Mapping or a
	// preset says. Default auto: whatever the first lines look like.
	Format string
	// Classify says which class takes a request of an access log; empty: none,
	// and it is left out. Nil: it is of Class.
	Classify func(Asked) string
	// Weigh says how much worse a cheaper answer is for a request of an access log
	// that is of a class, in millionths. Nil: nothing is known of it.
	Weigh func(class string, a Asked) int32
	// Tenants are those that a configuration names, in order of their names: a
	// recording under such a configuration shows which are theirs.
	Tenants []string
	// Config is the fingerprint of the configuration that the trace is to meet,
	// to be told whether a recording was made under it; empty: it is not asked.
	Config string
}

// Reader is a workload.Source of the requests in a trace. The first arrives at
// 0 (in a trace of counts, the first window starts there). It is not safe for
// concurrent use.
type Reader struct {
	options  Options
	name     string
	file     io.Closer
	lines    *lines.Reader
	layout   splitter
	log      *logLayout              // layout, where the file is an access log
	read     func() (pending, error) // the next usable line or request; io.EOF at the end
	lent     lent                    // service times for requests that have none
	about    string
	classed  bool
	recorded []string // classes of a recording
	mapping  Mapping
	bound    binding
	spread   *dice.Dice
	first    []byte // the first line, where it is no header

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

// Open reads the trace in a file.
func Open(path string, options Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if isRecording(f) {
		f.Close()
		return openRecording(path, options)
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
	return newReader(name, options, func(r *Reader) error { return r.open(in) })
}

func newReader(name string, options Options, open func(*Reader) error) (*Reader, error) {
	options.Speed = cmp.Or(options.Speed, 1)
	options.Scale = cmp.Or(options.Scale, 1)
	if options.Window < 0 || options.Window > 1<<24 {
		return nil, fmt.Errorf("trace %s: a window of %d lines: must be from 1 to 16,777,216", name, options.Window)
	}
	if options.Names == nil {
		options.Names = workload.NewNames()
	}
	r := &Reader{options: options, name: name, last: math.MinInt64, spread: dice.New(options.Seed, "trace/spread")}
	r.drawn.dice = dice.New(options.Seed, "trace/count")
	r.lent.dice = dice.New(options.Seed, "trace/service")
	if err := open(r); err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	r.options.Window = cmp.Or(r.options.Window, windowOfLines)
	return r, r.transform()
}

// windowOfLines is how many lines are held where nothing is said: logs are out
// of order by as long as their longest request took.
const windowOfLines = 1 << 16

// transform puts scale and speed around the reader.
func (r *Reader) transform() (err error) {
	o := r.options
	r.source = workload.SourceFunc(r.next)
	if o.Scale != 1 && r.mapping.expr[count] == "" {
		if r.source, err = workload.Scale(r.source, o.Scale, o.Seed, "trace"); err != nil {
			return err
		}
	} else if !(o.Scale >= 1e-6 && o.Scale <= 1e6) {
		return fmt.Errorf("scale %v: must be from 0.000001 to 1,000,000", o.Scale)
	}
	if o.Speed != 1 {
		r.source, err = workload.Speed(r.source, o.Speed)
	}
	return err
}

// open finds out what the lines are.
func (r *Reader) open(in io.Reader) error {
	var err error
	if r.lines, err = lines.New(in); err != nil {
		return err
	}
	if r.lines.Starts(record.Magic) {
		one, err := record.NewReader(r.lines.Rest())
		if err != nil {
			return err
		}
		r.lines, r.read = nil, newRecording(r, one).read
		return nil
	}
	r.read = r.readLine
	if isLog, err := r.openLog(); isLog || err != nil {
		return err
	}
	line, err := r.lines.Next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	} else if err != nil {
		return err
	}
	hasHeader := r.options.Mapping.header != "no"
	layout, err := layoutOf(line, hasHeader)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	r.layout, r.about = &layout, "lines of values, by their header"
	if !hasHeader || layout.delimiter == 0 {
		r.first = append([]byte{}, line...)
	}
	r.mapping = r.options.Mapping
	if p, known := recognise(layout.columns); known {
		r.mapping, r.about = r.mapping.over(p.mapping), p.from
	}
	r.bound, err = bind(r.mapping, layout.columns)
	r.lent.timed, r.classed = r.mapping.expr[service] != "", r.mapping.expr[class] != ""
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

// About says in words what the file was taken for, and what was done about
// stamps that are rounded.
func (r *Reader) About() string {
	if r.log != nil && r.log.coarse >= time.Second && r.mapping.spread == 0 {
		return r.about + "; each request comes somewhere within the second of its stamp, drawn from the seed"
	}
	return r.about
}

// IsLog reports whether the file is an access log.
func (r *Reader) IsLog() bool { return r.log != nil }

// Timed reports whether the trace knows how long requests took. Of those it does
// not know it of, the time of another of their class is taken.
func (r *Reader) Timed() bool { return r.lent.timed }

// Classed reports whether the trace says itself which class a request is of.
func (r *Reader) Classed() bool { return r.classed }

// Recorded returns the classes of the gateway that a recording is of, some of
// which may have no requests in it; nil for other traces.
func (r *Reader) Recorded() []string { return r.recorded }

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
			r.lent.fill(a)
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
	for r.read != nil && len(r.sorter.heap) < r.options.Window {
		p, err := r.read()
		if err == nil {
			r.lent.keep(&p.arrival)
			r.sorter.push(p)
			continue
		}
		r.read = nil
		if !errors.Is(err, io.EOF) {
			r.err = fmt.Errorf("trace %s: after %d usable lines: %w", r.name, r.stats.Rows, err)
		} else if r.stats.Rows == 0 {
			r.err = fmt.Errorf("trace %s: not one usable line (%s)", r.name, cmp.Or(r.stats.String(), "there is only a header"))
		} else if r.stats.Rows == r.stats.Nobodys {
			r.err = fmt.Errorf("trace %s: no class of the configuration takes any of its %d requests; see its match, or name a class with --class", r.name, r.stats.Rows)
		} else if r.stats.Rows == r.stats.Left {
			r.err = fmt.Errorf("trace %s: only=%s leaves out all %d lines", r.name, r.mapping.only, r.stats.Rows)
		}
	}
	return r.sorter.pop()
}
