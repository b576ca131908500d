package accesslog

import (
	"errors"
	"fmt"
	"strings"
)

// nginxValues are the variables of nginx that mean something here; all others
// can be asked for by a mapping. nginx writes a line when its request has ended.
var nginxValues = map[string]value{
	"remote_addr":            client,
	"remote_user":            user,
	"time_local":             stamp(parseCommon, true),
	"time_iso8601":           stamp(parseISO, true),
	"msec":                   stamp(unix(1e9), true),
	"request":                request,
	"request_method":         method,
	"request_uri":            target,
	"uri":                    target,
	"document_uri":           target,
	"host":                   host,
	"http_host":              host,
	"status":                 status,
	"body_bytes_sent":        sent,
	"bytes_sent":             sent,
	"request_length":         received,
	"request_time":           took(1e9),
	"upstream_response_time": listed,
}

// plainValues are the names in a pattern:'...'.
var plainValues = map[string]value{
	"_":             skipped,
	"at":            stamp(parseAny, false),
	"end":           stamp(parseAny, true),
	"client":        client,
	"user":          user,
	"session":       session,
	"tenant":        tenant,
	"class":         class,
	"request":       request,
	"method":        method,
	"path":          target,
	"host":          host,
	"status":        status,
	"bytes":         sent,
	"request_bytes": received,
	"took":          tookWithUnit,
}

// nginxFormat reads a log_format, alone or with the directive around it.
func nginxFormat(text string) (*pattern, error) {
	if rest, is := strings.CutPrefix(strings.TrimSpace(text), "log_format"); is {
		text = unwrap(rest)
	}
	return dollars(text, nginxValues)
}

// unwrap joins the quoted strings of an nginx directive.
func unwrap(rest string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(rest, `'"`)
		if i < 0 {
			return b.String()
		}
		quote := rest[i]
		rest = rest[i+1:]
		for len(rest) > 0 && rest[0] != quote {
			if rest[0] == '\\' && len(rest) > 1 && (rest[1] == quote || rest[1] == '\\') {
				rest = rest[1:]
			}
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
		if rest == "" {
			return b.String()
		}
		rest = rest[1:]
	}
}

// dollars reads a text with $name or ${name} in place of values.
func dollars(text string, values map[string]value) (*pattern, error) {
	p := &pattern{}
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			p.literal([]byte(text))
			break
		}
		p.literal([]byte(text[:i]))
		text = text[i+1:]
		var name string
		if rest, braced := strings.CutPrefix(text, "{"); braced {
			var ok bool
			if name, text, ok = strings.Cut(rest, "}"); !ok {
				return nil, errors.New("a ${ is not closed")
			}
		} else {
			n := 0
			for n < len(text) && isName(text[n]) {
				n++
			}
			name, text = text[:n], text[n:]
		}
		if name == "" {
			return nil, errors.New("a $ stands before no name")
		}
		v, known := values[name]
		if !known {
			v = skipped
		}
		p.add(name, v, !known)
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p, p.hasTime(values)
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// hasTime refuses a format that says of no request when it was.
func (p *pattern) hasTime(values map[string]value) error {
	var stamps []string
	for _, name := range []string{"time_local", "time_iso8601", "msec", "at", "end", "start_time"} {
		if values[name] != nil {
			stamps = append(stamps, name)
		}
	}
	for _, s := range p.steps {
		for _, name := range stamps {
			if s.name == name {
				return nil
			}
		}
	}
	return fmt.Errorf("it has no time: one of $%s", strings.Join(stamps, ", $"))
}
