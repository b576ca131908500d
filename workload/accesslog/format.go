package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Parser reads the lines of one log in order. It is not safe for concurrent use.
type Parser interface {
	// Parse reads a line that is not empty into e, all of it. The error is
	// ErrNoRequest, or says what is wrong with the line.
	Parse(line []byte, e *Entry) error
	// More returns the names of the values in Entry.More.
	More() []string
}

// Format is how a log is written. The zero Format is not known yet: see Detect.
type Format struct {
	name  string
	about string
	make  func() Parser
}

// IsZero reports whether the format is still to be found out.
func (f Format) IsZero() bool { return f.make == nil }

// Parser returns a parser for one log.
func (f Format) Parser() Parser { return f.make() }

// String is the format as ParseFormat reads it.
func (f Format) String() string {
	if f.IsZero() {
		return "auto"
	}
	return f.name
}

// About says in words what the log is and what its times mean.
func (f Format) About() string { return f.about }

// common is what Apache's common format is made of, and nginx' combined too.
func common(lead string) Format {
	p := &pattern{}
	name, about := "common", "common or combined format (Apache, nginx), stamps to the second and no service times"
	if lead != "" {
		name, about = "vhost", about+", behind host:port"
		p.add("host", host, false)
		p.literal([]byte(" "))
	}
	p.add("client", client, false)
	p.literal([]byte(" "))
	p.add("logname", skipped, false)
	p.literal([]byte(" "))
	p.add("user", user, false)
	p.literal([]byte(" ["))
	p.add("time", stamp(parseCommon, false), false)
	p.literal([]byte("] \""))
	p.add("request", request, false)
	p.literal([]byte("\" "))
	p.add("status", status, false)
	p.literal([]byte(" "))
	p.add("bytes", firstWord(sent), false)
	return Format{name, about, func() Parser { return p }}
}

// firstWord takes what stands before the first space of the rest of the line.
func firstWord(v value) value {
	return func(e *Entry, text []byte) error {
		word, _, _ := bytes.Cut(text, []byte{' '})
		return v(e, word)
	}
}

func fixed(name, about string, p Parser) Format {
	return Format{name, about, func() Parser { return p }}
}

// formats are those that are found out, in the order of their being asked.
func formats() []Format {
	text, err := dollars(envoyText, envoyTextValues)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return []Format{
		{"w3c", "W3C extended log (IIS and others), UTC, stamps of the end, time-taken as service time", func() Parser { return &w3c{} }},
		fixed("haproxy", "HAProxy HTTP log, in UTC as it names no zone, service time without the wait in its queue", haproxy{}),
		fixed("caddy", "Caddy's JSON, stamps of the end, duration as service time", caddy{}),
		fixed("envoy", "Envoy's JSON, stamps of the start, upstream service time or duration", envoyJSON{}),
		fixed("envoy-text", "Envoy's default text format, stamps of the start, upstream service time or duration", text),
		common("vhost"), // before common, which takes its first word for the client
		common(""),
	}
}

// ParseFormat reads the name of a format, or nginx:'...', apache:'...' or
// pattern:'...' with a format of one's own; auto is the zero Format.
func ParseFormat(text string) (Format, error) {
	name, own, has := strings.Cut(text, ":")
	if !has {
		if name == "auto" || name == "" {
			return Format{}, nil
		}
		if name == "combined" {
			name = "common"
		}
		for _, f := range formats() {
			if f.name == name {
				return f, nil
			}
		}
		return Format{}, fmt.Errorf("format %q: write auto, common, combined, vhost, haproxy, w3c, caddy, envoy, nginx:'LOG_FORMAT', apache:'LOGFORMAT', pattern:'TEXT WITH $names' or mapping", text)
	}
	own = strings.TrimSpace(own)
	if n := len(own); n > 1 && own[0] == own[n-1] && own[0] == '\'' {
		own = own[1 : n-1]
	}
	var p *pattern
	var err error
	var about string
	switch name {
	case "nginx":
		p, err = nginxFormat(own)
		about = "nginx log_format, stamps of the end"
	case "apache":
		p, err = apacheFormat(own)
		about = "Apache LogFormat, stamps of the start unless it says end"
	case "pattern":
		p, err = dollars(own, plainValues)
		about = "lines of this pattern"
	default:
		err = errors.New("before the colon stands nginx, apache or pattern")
	}
	if err != nil {
		return Format{}, fmt.Errorf("format %s: %w", text, err)
	}
	return Format{text, about, func() Parser { return p }}, nil
}

// Detect finds out the format of a log by its first lines: the one that reads
// most of them, if it reads at least half of those that are no comments or
// messages.
func Detect(lines [][]byte) (Format, bool) {
	var best Format
	most := 0
	var e Entry
	for _, f := range formats() {
		p := f.Parser()
		read, damaged := 0, 0
		for _, line := range lines {
			if len(line) == 0 {
				continue
			}
			switch err := p.Parse(line, &e); {
			case err == nil:
				read++
			case err != ErrNoRequest:
				damaged++
			}
		}
		if read > most && read >= damaged {
			best, most = f, read
		}
	}
	return best, most > 0
}
