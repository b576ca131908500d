package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/accesslog"
	"github.com/spillway-dev/spillway/workload/internal/lines"
)

// readLine returns the next line that is usable and wanted.
func (r *Reader) readLine() (pending, error) {
	for {
		line, err := r.first, error(nil)
		if r.first = nil; line == nil {
			line, err = r.lines.Next()
		}
		if err != nil && !errors.Is(err, lines.ErrLong) {
			return pending{}, err
		}
		if err == nil {
			var p pending
			var wanted bool
			if p, wanted, err = r.parse(line); err == nil {
				r.stats.Rows++
				if wanted {
					return p, nil
				}
			}
		}
		if errors.Is(err, accesslog.ErrNoRequest) {
			r.stats.Other++
		} else if err != nil {
			r.damaged(r.lines.Number(), err)
		}
	}
}

func (r *Reader) damaged(line int64, err error) {
	r.stats.Damaged++
	if len(r.stats.First) < keptDamages {
		reason := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", " "), "?")
		r.stats.First = append(r.stats.First, Damage{line, reason})
	}
}

// parse turns a line into an arrival. wanted is false where "only" leaves it
// out.
func (r *Reader) parse(line []byte) (p pending, wanted bool, err error) {
	if r.row, err = r.layout.split(r.row[:0], line); err != nil {
		return p, false, err
	}
	b, row := &r.bound, r.row
	if p.at, p.dated, err = instant(b.terms[at], row); err != nil {
		return p, false, inField(at, err)
	}
	if p.at < -int64(366*24*time.Hour) {
		return p, false, inField(at, errors.New("it is more than a year before the start"))
	}
	spread := r.mapping.spread
	if spread == 0 && r.log != nil {
		spread = r.log.coarse
	}
	if spread > 0 {
		p.at += int64(float64(r.spread.Float64() * float64(spread)))
	}
	values := [fields]int64{cost: 1, count: 1}
	for f, terms := range b.terms {
		if terms == nil {
			continue
		}
		switch field(f) {
		case service, deadline:
			values[f], err = length(terms, row)
		case cost, bytesOf, importance, count:
			values[f], err = number(terms, row)
		}
		if err != nil {
			return p, false, inField(field(f), err)
		}
	}
	if p.count = values[count]; p.count > maxCount {
		return p, false, inField(count, fmt.Errorf("%d is more than %d", p.count, int64(maxCount)))
	}
	if b.only >= 0 && !bytes.Equal(row[b.only], b.equals) {
		r.stats.Left++
		return p, false, nil
	}
	names := r.options.Names
	p.arrival = workload.Arrival{
		Service:    time.Duration(values[service]),
		Deadline:   time.Duration(values[deadline]),
		Cost:       max(1, values[cost]),
		Bytes:      values[bytesOf],
		Importance: int32(min(values[importance], math.MaxInt32)),
		Session:    numberOf(name(b.terms[session], row)),
		Key:        numberOf(name(b.terms[key], row)),
		Tenant:     names.Tenants.IDBytes(name(b.terms[tenant], row)),
		Class:      names.Classes.IDBytes(name(b.terms[class], row)),
	}
	if r.log != nil && b.terms[key] == nil {
		p.arrival.Key = r.log.question()
	}
	if s := b.terms[service]; p.arrival.Service == 0 && s != nil && !empty(row[s[0].column]) {
		p.arrival.Service = 1 // known to be next to nothing, which is not the same as not known
	}
	var asked Asked
	if r.log != nil && (r.options.Classify != nil || r.options.Weigh != nil) {
		asked = r.log.asked()
	}
	if p.arrival.Class == 0 && r.log != nil && r.options.Classify != nil {
		name := r.options.Classify(asked)
		if name == "" {
			r.stats.Nobodys++
			return p, false, nil
		}
		p.arrival.Class = names.Classes.ID(name)
	}
	if p.arrival.Class == 0 && r.options.Class != "" {
		p.arrival.Class = names.Classes.ID(r.options.Class)
	}
	if r.log != nil && r.options.Weigh != nil {
		p.arrival.Gap = r.options.Weigh(names.Classes.String(p.arrival.Class), asked)
	}
	return p, true, nil
}

func inField(f field, err error) error {
	return errors.New(fieldNames[f] + ": " + err.Error())
}

// numberOf returns the number of a session or key: a hash (FNV-1a), as only equality
// matters and a trace has any number of them.
func numberOf(name []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	return hashOf(fnvBasis, name) | 1
}

const fnvBasis = 14695981039346656037

func hashOf(h uint64, text []byte) uint64 {
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
