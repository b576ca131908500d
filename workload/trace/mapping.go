package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mapping says which column of a file means what. Its zero value says nothing,
// which is right for a file whose header a preset knows.
type Mapping struct {
	expr   [fields]string // a column, or a sum of columns; empty if not mapped
	per    time.Duration
	spread time.Duration
	only   string // COLUMN:VALUE, "-" for no filter
	header string // "yes", "no" or empty
}

type field uint8

const (
	at field = iota
	tenant
	class
	session
	key
	service
	cost
	bytesOf
	importance
	deadline
	count
	fields
)

var fieldNames = [fields]string{"at", "tenant", "class", "session", "key", "service", "cost", "bytes", "importance", "deadline", "count"}

const mappingForm = "write at=TIMESTAMP,tenant=host,cost=ContextTokens+GeneratedTokens"

// ParseMapping reads KEY=VALUE pairs, or the name of a preset:
//
//	at=COLUMN[:ms]       when the request arrived: a date, Unix time, or a number of s, ms, us, ns, m, h
//	tenant=COLUMN        class, session likewise; key likewise: what is asked, for earlier answers
//	service=COLUMN[:ms]  how long it took; deadline likewise; seconds if no unit is said, or 1.5s
//	cost=A+2*B           bytes, importance, count likewise; at, service and deadline can be A-B too
//	count=COLUMN,per=1m  the line stands for so many requests within a minute from at; they are drawn
//	spread=3s            each request comes up to 3 s later, by chance: for times rounded to 3 s
//	only=COLUMN:VALUE    other lines are left out; only=- for none of a preset's
//	header=no            the file has no header; its columns are 1, 2, 3 ...
//
// What is not named is as the preset of the file's header has it, if there is
// one.
func ParseMapping(text string) (Mapping, error) {
	for _, p := range presets {
		if p.name == text {
			return p.mapping, nil
		}
	}
	return parsePairs(text)
}

func parsePairs(text string) (Mapping, error) {
	var m Mapping
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value = strings.TrimSpace(value)
		if value == "" {
			return Mapping{}, fmt.Errorf("mapping %q: %q is no KEY=VALUE; %s", text, pair, mappingForm)
		}
		if err := m.set(key, value); err != nil {
			return Mapping{}, fmt.Errorf("mapping %q: %w", text, err)
		}
	}
	return m, nil
}

func (m *Mapping) set(key, value string) error {
	if i := slices.Index(fieldNames[:], key); i >= 0 {
		if m.expr[i] != "" {
			return fmt.Errorf("%s is given twice", key)
		}
		m.expr[i] = value
		return nil
	}
	switch key {
	case "per", "spread":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > 366*24*time.Hour {
			return fmt.Errorf("%s=%s: must be a length of time above 0s and up to a year, with a unit, like %s=1m", key, value, key)
		}
		if key == "per" {
			m.per = d
		} else {
			m.spread = d
		}
	case "only":
		if !strings.Contains(value, ":") && value != "-" {
			return fmt.Errorf("only=%s: write only=COLUMN:VALUE, or only=-", value)
		}
		m.only = value
	case "header":
		if value != "yes" && value != "no" {
			return fmt.Errorf("header=%s: must be yes or no", value)
		}
		m.header = value
	default:
		return fmt.Errorf("there is no key %q; the keys are %s, per, spread, only, header", key, strings.Join(fieldNames[:], ", "))
	}
	return nil
}

// String writes the mapping as ParseMapping reads it.
func (m Mapping) String() string {
	var pairs []string
	add := func(key, value string) {
		if value != "" {
			pairs = append(pairs, key+"="+value)
		}
	}
	for i, e := range m.expr {
		add(fieldNames[i], e)
	}
	if m.per > 0 {
		add("per", m.per.String())
	}
	if m.spread > 0 {
		add("spread", m.spread.String())
	}
	add("only", m.only)
	add("header", m.header)
	return strings.Join(pairs, ",")
}

// over returns m, completed by what it does not name.
func (m Mapping) over(base Mapping) Mapping {
	for i, e := range m.expr {
		if e != "" {
			base.expr[i] = e
		}
	}
	if m.per > 0 {
		base.per = m.per
	}
	if m.spread > 0 {
		base.spread = m.spread
	}
	if m.only != "" {
		base.only = m.only
	}
	if m.header != "" {
		base.header = m.header
	}
	return base
}
