package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/workload/accesslog"
)

// lookedAt is how many lines are looked at to find out what they are.
const lookedAt = 200

// ofLogs is what an access log's values mean unless a mapping says otherwise.
var ofLogs = known("at=at:ns,tenant=tenant,class=class,session=session,service=service:ns")

// logLayout gives an access log the columns of accesslog.Columns.
type logLayout struct {
	parser  accesslog.Parser
	columns []string
	entry   accesslog.Entry
	scratch []byte
	coarse  time.Duration // what the last line's stamp is rounded to
}

func (l *logLayout) names() []string { return l.columns }

func (l *logLayout) split(values [][]byte, line []byte) ([][]byte, error) {
	if err := l.parser.Parse(line, &l.entry); err != nil {
		return values, err
	}
	l.coarse = l.entry.Coarse
	values, l.scratch = l.entry.Row(values, l.scratch[:0])
	return append(values, l.entry.More...), nil
}

// Asked is what a configuration knows a request of an access log by. Path and Query
// are as logged; Size is that of its body, -1 where the log does not say.
type Asked struct {
	Method, Host, Path, Query string
	Tenant, Session           string
	Size                      int64
}

// asked is that of the line split last.
func (l *logLayout) asked() Asked {
	e := &l.entry
	return Asked{
		Method: string(e.Method), Host: string(e.Host), Path: string(e.Path), Query: string(e.Query),
		Tenant: string(e.Tenant), Session: string(e.Session), Size: e.RequestBytes,
	}
}

// question is what the line split last asked, as a number: of a GET or HEAD, whose
// answers can be given again, host, path and query; 0 of any other.
func (l *logLayout) question() uint64 {
	if m := string(l.entry.Method); m != "GET" && m != "HEAD" {
		return 0
	}
	h := hashOf(hashOf(fnvBasis, l.entry.Host), []byte{0})
	return hashOf(hashOf(hashOf(h, l.entry.Path), []byte{0}), l.entry.Query) | 1
}

// openLog makes the lines those of an access log, if they are to be or look like
// it. A mapping that says where the time is is for other files.
func (r *Reader) openLog() (bool, error) {
	name := r.options.Format
	if name == "mapping" {
		return false, nil
	}
	format, err := accesslog.ParseFormat(name)
	if err != nil {
		return false, err
	}
	first := r.lines.Peek(lookedAt)
	if format.IsZero() {
		if m := r.options.Mapping; len(first) == 0 || m.expr[at] != "" || m.header != "" || r.hasPreset(first[0]) {
			return false, nil
		}
		detected, is := accesslog.Detect(first)
		if !is {
			return false, r.looksLikeNothing(first[0])
		}
		format = detected
	}
	l := &logLayout{parser: format.Parser()}
	l.columns = append(accesslog.Columns(), l.parser.More()...)
	r.layout, r.log, r.about = l, l, format.About()
	r.mapping = r.options.Mapping.over(ofLogs)
	if r.bound, err = bind(r.mapping, l.columns); err != nil {
		return true, err
	}
	r.classed = r.options.Classify != nil
	r.try(format, first)
	return true, nil
}

// try reads the first lines to see what they know.
func (r *Reader) try(format accesslog.Format, first [][]byte) {
	p := format.Parser()
	var e accesslog.Entry
	for _, line := range first {
		if p.Parse(line, &e) == nil {
			r.lent.timed = r.lent.timed || e.Service >= 0 || e.Took >= 0
			r.log.coarse = max(r.log.coarse, e.Coarse)
			r.classed = r.classed || len(e.Class) > 0
		}
	}
	if !r.lent.timed && r.mapping.expr[service] == ofLogs.expr[service] {
		r.about += "; it does not say how long requests took"
	}
}

func (r *Reader) hasPreset(first []byte) bool {
	l, err := layoutOf(first, true)
	if err != nil {
		return false
	}
	_, known := recognise(l.columns)
	return known
}

// looksLikeNothing tells apart a file whose columns a mapping could name from
// one that is neither that nor a log that is known. It returns nil for the
// former, of which bind says what is missing.
func (r *Reader) looksLikeNothing(first []byte) error {
	if l, err := layoutOf(first, true); err == nil && len(l.columns) > 1 && !strings.ContainsAny(string(first), "[]") {
		return nil
	}
	return fmt.Errorf("it is no recording, no table with a header and no access log that is known (its first line: %.80q); "+
		"say what its lines look like with --format nginx:'...', apache:'...' or pattern:'...', or what its columns mean with --map at=COLUMN", first)
}
