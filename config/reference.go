package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// Reference is the reference page of the format in Markdown, made from the same tags
// as [Schema] and the checks. A test keeps docs/reference/config.md equal to it.
func Reference() []byte {
	var b bytes.Buffer
	b.WriteString(referenceHead)
	first := map[reflect.Type]string{}
	walkTypes(reflect.TypeFor[Config](), "", func(path string, t reflect.Type, fields []field) {
		title := "The file"
		if path != "" {
			title = "`" + path + "`"
			for up := path; up != ""; up = parent(up) {
				if notBuiltAt(up, "") != nil {
					title += " (not yet)"
				}
			}
		}
		if at, again := first[t]; again && within(at, path) {
			fmt.Fprintf(&b, "\n## %s\n\nKeys as in `%s`.\n", title, at)
			return
		}
		first[t] = path
		fmt.Fprintf(&b, "\n## %s\n\n| key | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n", title)
		for _, f := range fields {
			writeRow(&b, t.Field(f.index).Type, f, join(path, f.key))
		}
	})
	b.WriteString("\n## Not yet\n\nUnderstood, and refused with a line that says so, until the capability exists:\n\n| key or value | comes with | today |\n| --- | --- | --- |\n")
	for _, n := range notYet {
		key := strings.ReplaceAll(strings.ReplaceAll(n.path, "*", "NAME"), "=", ": ")
		key = strings.Replace(key, ": %", ": N%", 1)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, n.what, n.instead)
	}
	return b.Bytes()
}

// within reports whether b stands in the mapping of a, or in one inside it: then what
// both hold needs saying once.
func within(a, b string) bool {
	return strings.HasPrefix(parent(b)+".", parent(a)+".") && parent(a) != ""
}

func writeRow(b *bytes.Buffer, t reflect.Type, f field, path string) {
	doc := f.doc
	if notBuiltAt(path, "") != nil {
		doc = "**Not yet.** " + doc
	}
	def := ""
	switch {
	case f.required:
		def = "required"
	case f.def != "":
		def = "`" + f.def + "`"
	}
	span := ""
	if f.min != "" || f.max != "" {
		span = rangeWords(f)
	}
	if f.large != "" {
		span = strings.TrimPrefix(span+"; warned of above "+f.large, "; ")
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.key, cell(kindName(t)), def, span, cell(doc))
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

const referenceHead = `# Configuration reference

Every key of the file, made from the types that read it. ` + "`spillway check -c FILE`" + ` says whether a file is
right and, where it is not, in which line and what would be; ` + "`spillway check --schema`" + ` prints a JSON Schema for editors.
A worked file is [examples/spillway.yaml](../../examples/spillway.yaml).

The first class whose ` + "`match`" + ` fits takes a request. A key that is left out has its default; an unknown key is an error.

| type | written | notes |
| --- | --- | --- |
| duration | ` + "`50ms`, `1.5s`, `2h`" + ` | always with a unit: ns, us, ms, s, m, h |
| size | ` + "`64MiB`, `64KiB`" + ` | always with a unit: B, KiB, MiB, GiB, TiB (1024s) or KB, MB, GB, TB (1000s) |
| percent | ` + "`10%`" + ` | 0% to 100% |
| rate | ` + "`5%/s`" + ` | percent points a second, or a minute: ` + "`5%/m`" + ` |
| on, off | ` + "`on`, `off`" + ` | or ` + "`true`, `false`" + ` |
| key | ` + "`header:X-Tenant`, `cookie:sid`, `query:user`, `path:1`, `client`" + ` | where a request says it: a header, a cookie, a query parameter, a segment of the path from 1, or the caller's address |
| text, ${NAME}, file:PATH | ` + "`${STORE_URL}`, `file:/run/secrets/store_url`" + ` | replaced from the environment or a file (relative to this one); never printed |

Anchors, aliases and ` + "`<<`" + ` work. A file is one document of at most 1 MiB.
`
