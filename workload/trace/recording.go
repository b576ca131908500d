package trace

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/internal/lines"
	"github.com/spillway-dev/spillway/workload/record"
)

// windowOfRecording is how many requests of a recording are held to bring them
// into order: they stand in the order of their ends.
const windowOfRecording = 1 << 18

// recorded is one file of a recording or all of them.
type recorded interface {
	Next(q *record.Request) bool
	Header() *record.Header
	Stats() record.Summary
	Err() error
}

// recording reads a recording made by the gateway.
type recording struct {
	r       *Reader
	from    recorded
	classes []workload.Name          // by the recording's index
	tenants map[uint64]workload.Name // of those that the configuration names
}

// isRecording looks at the beginning of a file that can be read twice; others
// New looks at.
func isRecording(f *os.File) bool {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	l, err := lines.New(f)
	is := err == nil && l.Starts(record.Magic)
	_, err = f.Seek(0, io.SeekStart)
	return is && err == nil
}

func openRecording(path string, options Options) (*Reader, error) {
	from, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(path, options, func(r *Reader) error {
		r.read = newRecording(r, from).read
		return nil
	})
	if err != nil {
		from.Close()
		return nil, err
	}
	r.file = from
	return r, nil
}

func newRecording(r *Reader, from recorded) *recording {
	h := from.Header()
	r.lent.timed, r.classed, r.stats.blocks, r.recorded = true, true, true, h.Classes
	if r.options.Window == 0 {
		r.options.Window = windowOfRecording
	}
	g := &recording{r: r, from: from, tenants: make(map[uint64]workload.Name)}
	if known := r.options.Tenants; len(known) == len(h.Known) {
		for i, name := range known {
			g.tenants[h.Known[i]] = r.options.Names.Tenants.ID(name)
		}
	}
	r.about = "recording of spillway from " + h.Start.UTC().Format("2006-01-02 15:04:05 UTC")
	switch r.options.Config {
	case "":
	case h.Config:
		r.about += ", under these rules"
	default:
		r.about += ", under other rules than these"
	}
	if n := len(g.tenants); n > 0 {
		r.about += fmt.Sprintf("; %d tenants are named as the configuration names them", n)
	}
	return g
}

// read returns the next request. Damage is told of as it is met.
func (g *recording) read() (pending, error) {
	var q record.Request
	more := g.from.Next(&q)
	now, stats := g.from.Stats(), &g.r.stats
	stats.Lost = now.Lost
	for stats.Damaged < now.Damaged {
		if i := int(stats.Damaged); i < len(now.First) {
			stats.First = append(stats.First, Damage{now.First[i].Offset, now.First[i].Reason})
		}
		stats.Damaged++
	}
	if !more {
		if err := g.from.Err(); err != nil {
			return pending{}, err
		}
		return pending{}, io.EOF
	}
	stats.Rows++
	return g.pending(&q), nil
}

func (g *recording) pending(q *record.Request) pending {
	h := g.from.Header()
	return pending{
		at: h.Start.UnixNano() + int64(q.Arrival), count: 1, dated: true,
		arrival: workload.Arrival{
			Service: q.Service, Deadline: q.Allowed, Cost: max(1, q.Cost), Bytes: q.Bytes,
			Session: q.Session, Importance: min(q.Importance, math.MaxInt32),
			Class: g.class(h, q), Tenant: g.tenant(q.Tenant),
		},
	}
}

func (g *recording) class(h *record.Header, q *record.Request) workload.Name {
	i := int(q.Class)
	if i >= len(h.Classes) {
		return 0
	}
	for len(g.classes) <= i {
		g.classes = append(g.classes, g.r.options.Names.Classes.ID(h.Classes[len(g.classes)]))
	}
	return g.classes[i]
}

func (g *recording) tenant(hash uint64) workload.Name {
	if hash == 0 {
		return 0
	}
	if name, known := g.tenants[hash]; known {
		return name
	}
	const digits = "0123456789abcdef"
	text := [17]byte{'t'}
	for i := range 16 {
		text[1+i] = digits[hash>>(60-4*i)&15]
	}
	return g.r.options.Names.Tenants.IDBytes(text[:])
}
