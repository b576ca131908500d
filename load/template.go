package load

import (
	"bytes"
	"fmt"
	"net/textproto"
	"strings"
	"text/template"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// Request is what templates of path, header and body can use: {{.N}},
// {{.Tenant}} and so on.
type Request struct {
	N                      int64 // number in the schedule, from 0
	At                     time.Duration
	Class, Tenant, Session string
	Importance             int
	Key                    uint64 // 0 if the arrival names none
	Cost, Bytes            int64
	Deadline               time.Duration // 0 if the arrival names none; {{.Deadline.Milliseconds}}
	Stretch                string        // of the session, as Session is written; empty if it has no parts
	Gap                    float64       // how much worse a cheaper answer is for it, 0 to 1
}

// maxRequest bounds one rendered request.
const maxRequest = 64 << 20

// templates render a request's bytes. Where nothing in them varies they are
// rendered once.
type templates struct {
	target  target
	method  string
	path    *part
	headers []header
	body    *part
	fixed   bool // nothing varies but the filler
	data    Request
	names   *workload.Names
	scratch bytes.Buffer
}

type header struct {
	name  string
	value *part
}

// part is a template, or a text that is none.
type part struct {
	text     string
	template *template.Template
}

func newPart(what, text string) (*part, error) {
	if !strings.Contains(text, "{{") {
		return &part{text: text}, nil
	}
	t, err := template.New(what).Option("missingkey=error").Parse(text)
	if err == nil {
		err = t.Execute(&bytes.Buffer{}, &Request{Class: "c", Tenant: "t", Session: "s"})
	}
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w (it can use .N .Class .Tenant .Session .Stretch .Key .Gap .Importance .Cost .Bytes .Deadline)", what, text, err)
	}
	return &part{template: t}, nil
}

func newTemplates(c Config) (*templates, error) {
	var err error
	t := &templates{method: c.Method, names: c.Names}
	if t.target, err = parseTarget(c.URL); err != nil {
		return nil, err
	}
	if t.path, err = newPart("URL", t.target.rest); err != nil {
		return nil, err
	}
	if t.body, err = newPart("body", c.Body); err != nil {
		return nil, err
	}
	t.fixed = t.path.template == nil && t.body.template == nil
	for _, line := range c.Header {
		name, value, cut := strings.Cut(line, ":")
		name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
		if !cut || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !token(r) }) {
			return nil, fmt.Errorf("header %q: write Name: value", line)
		}
		switch name {
		case "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Expect":
			return nil, fmt.Errorf("header %q: %s is the generator's own", line, name)
		}
		p, err := newPart("header", strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		t.headers = append(t.headers, header{name, p})
		t.fixed = t.fixed && p.template == nil
	}
	return t, nil
}

func token(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// use sets the arrival that the next renderings are for.
func (t *templates) use(a *workload.Arrival) {
	t.data = Request{
		N: a.N, At: a.At, Importance: int(a.Importance), Key: a.Key, Cost: a.Cost, Bytes: a.Bytes, Deadline: a.Deadline, Gap: float64(a.Gap) / 1e6,
		Class:  t.names.Classes.String(a.Class),
		Tenant: t.names.Tenants.String(a.Tenant),
	}
	if !t.fixed {
		t.data.Session, t.data.Stretch = workload.SessionString(a.Session), workload.SessionString(a.Stretch)
	}
}

// render returns the part's text for the arrival in use, valid until the next
// call. A template that fails half-way (an index out of range) leaves what it
// had written: it was tried when the run began.
func (t *templates) render(p *part) []byte {
	t.scratch.Reset()
	if p.template == nil {
		t.scratch.WriteString(p.text)
	} else {
		_ = p.template.Execute(&t.scratch, &t.data)
	}
	return t.scratch.Bytes()
}

// wire appends the request as HTTP/1.1.
func (t *templates) wire(b []byte) []byte {
	b = append(b, t.method...)
	b = append(b, ' ')
	b = appendPath(b, t.render(t.path))
	b = append(b, " HTTP/1.1\r\n"...)
	hasHost := false
	for _, h := range t.headers {
		hasHost = hasHost || h.name == "Host"
		b = append(b, h.name...)
		b = append(b, ": "...)
		b = appendValue(b, t.render(h.value))
		b = append(b, "\r\n"...)
	}
	if !hasHost {
		b = append(b, "Host: "...)
		b = append(b, t.target.host...)
		b = append(b, "\r\n"...)
	}
	body, filler := t.content()
	if n := len(body) + filler; n > 0 || t.method == "POST" || t.method == "PUT" || t.method == "PATCH" {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", n)
	}
	b = append(b, "\r\n"...)
	b = append(b, body...)
	for ; filler > 0; filler-- {
		b = append(b, 'x')
	}
	return b
}

// content returns the body, or the length of the filler that stands for it.
func (t *templates) content() (body []byte, filler int) {
	if body = t.render(t.body); len(body) > 0 {
		return body, 0
	}
	return nil, int(min(t.data.Bytes, maxRequest))
}

// appendPath escapes what would end the path or the line: names come from
// anywhere.
func appendPath(b, path []byte) []byte {
	for _, c := range path {
		if c <= ' ' || c >= 0x7f {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return b
}

// appendValue replaces what would end the header.
func appendValue(b, value []byte) []byte {
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			c = '_'
		}
		b = append(b, c)
	}
	return b
}
