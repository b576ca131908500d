package parts

import (
	"bytes"
	"strings"

	"github.com/spillway-dev/spillway/provider/scan"
	"github.com/spillway-dev/spillway/provider/tokens"
)

// Rules are an API's own.
type Rules struct {
	// Image returns the tokens of a picture of that size in pixels, 0 by 0 where it is
	// not known, at that detail ("" where none is named).
	Image func(width, height int, detail string) int64
}

// What goes by rule; see the package.
const (
	PageTokens     = 3000
	FileElsewhere  = 10_000
	SoundElsewhere = 1_500
	bytesAToken    = 20
	soundBytes     = 400
	opaqueLeast    = 100

	// DepthMost is how deep a value is looked into; what lies deeper is counted as text.
	DepthMost = 32
)

// Walker prices the parts of one request.
type Walker struct {
	Text  *tokens.Counter
	Rules Rules
	// Guessed says that something went by rule.
	Guessed bool

	depth int
}

// Total returns the tokens so far.
func (w *Walker) Total() int64 { return w.Text.Total() }

// Known reports whether all was counted, and nothing went by rule.
func (w *Walker) Known() bool { return !w.Guessed && !w.Text.Guessed() }

// Value prices any value of JSON, where the model reads its strings as text.
func (w *Walker) Value(v []byte) { w.value(v, true) }

func (w *Walker) value(v []byte, text bool) {
	if w.depth++; w.depth > DepthMost {
		w.Text.JSON(v)
		w.depth--
		return
	}
	defer func() { w.depth-- }()
	switch scan.Of(v) {
	case '"':
		raw, _ := scan.Raw(v)
		w.str(raw, text)
	case '[':
		for e := range scan.Array(v) {
			w.value(e, text)
		}
	case '{':
		w.part(v)
	case 0, 'n':
	default: // a number, true or false
		w.Text.JSON(v)
	}
}

// str prices a string: text, unless it is data and stands where the model does not read
// it as it is.
func (w *Walker) str(raw []byte, text bool) {
	kind, data, ok := "", []byte(nil), false
	if !text {
		kind, data, ok = coded(raw)
	}
	if !ok {
		w.Text.JSON(raw)
		return
	}
	w.data(kind, data, "")
}

// part prices an object: by its type, where that has a rule.
func (w *Walker) part(v []byte) {
	kind, _ := scan.Raw(scan.Member(v, "type"))
	switch t := string(kind); {
	case strings.Contains(t, "image"):
		w.picture(v)
	case strings.Contains(t, "audio"):
		w.sound(v)
	case t == "file", t == "input_file", t == "document":
		w.file(v)
	default:
		w.members(v)
	}
}

func (w *Walker) members(v []byte) {
	for k, m := range scan.Object(v) {
		if string(k) == "type" || string(k) == "cache_control" {
			continue // which say what it is and not more of it
		}
		if string(k) != "text" && string(k) != "content" {
			w.Text.JSON(k)
		}
		w.value(m, read(k))
	}
}

// read reports whether a model reads what stands under a key as it stands, however
// much it looks like something else.
func read(key []byte) bool {
	switch string(key) {
	case "text", "content", "input", "output", "arguments", "instructions", "refusal", "thinking", "prompt", "summary", "description", "name", "query":
		return true
	}
	return false
}

// picture prices a picture, wherever in its object the picture is.
func (w *Walker) picture(v []byte) {
	found := source{}
	found.look(v, 0)
	detail, _ := scan.Text(found.detail)
	if found.data == nil {
		w.Guessed = true
		w.Text.Add(w.Rules.Image(0, 0, detail))
		return
	}
	w.data("image", found.data, detail)
}

func (w *Walker) sound(v []byte) {
	found := source{}
	found.look(v, 0)
	if found.data == nil {
		w.Guessed = true
		w.Text.Add(SoundElsewhere)
		return
	}
	w.data("audio", found.data, "")
}

// file prices a file: one that is text as text.
func (w *Walker) file(v []byte) {
	from := scan.Member(v, "source")
	switch kind := scan.Member(from, "type"); {
	case scan.Is(kind, "text"):
		w.Value(scan.Member(from, "data"))
	case scan.Is(kind, "content"):
		w.Value(scan.Member(from, "content"))
	default:
		found := source{}
		found.look(v, 0)
		if found.data == nil {
			w.Guessed = true
			w.Text.Add(FileElsewhere)
		} else {
			w.data(found.kind, found.data, "")
		}
	}
	for _, beside := range []string{"title", "context", "filename"} {
		w.Value(scan.Member(v, beside))
	}
}

// data prices base64 of a kind.
func (w *Walker) data(kind string, data []byte, detail string) {
	w.Guessed = true
	size := int64(len(data)) * 3 / 4
	switch {
	case strings.HasPrefix(kind, "image"):
		width, height := imageSize(data)
		w.Text.Add(max(w.Rules.Image(width, height, detail), 1))
	case strings.HasPrefix(kind, "audio"):
		w.Text.Add(max(size/soundBytes, opaqueLeast))
	case strings.Contains(kind, "pdf") || bytes.HasPrefix(data, pdfStart):
		w.Text.Add(max(pages(data)*PageTokens, size/bytesAToken, PageTokens))
	case strings.HasPrefix(kind, "text"):
		w.Text.Add(max(size/3, 1))
	default:
		w.Text.Add(max(size/bytesAToken, opaqueLeast))
	}
}

// source is where in an object its data are.
type source struct {
	data   []byte
	kind   string
	detail []byte
}

// look finds data in an object and in those within it.
func (s *source) look(v []byte, depth int) {
	if depth > 4 {
		return
	}
	for k, m := range scan.Object(v) {
		key := string(k)
		switch scan.Of(m) {
		case '{':
			s.look(m, depth+1)
		case '"':
			raw, _ := scan.Raw(m)
			switch key {
			case "detail":
				s.detail = m
			case "media_type", "format":
				s.kind, _ = scan.Text(m)
			case "type", "filename", "title":
			default:
				kind, data, ok := coded(raw)
				if !ok && (key == "data" || key == "file_data") && len(raw) > 0 {
					data, ok = raw, true
				}
				if ok && len(data) > len(s.data) {
					s.data = data
					if kind != "" {
						s.kind = kind
					}
				}
			}
		}
	}
}

// codedLeast is the length from which a string of nothing but base64's characters is
// taken for that.
const codedLeast = 1024

// coded reports whether a string is data in base64, as a data: URL or by itself.
func coded(raw []byte) (kind string, data []byte, ok bool) {
	if bytes.HasPrefix(raw, dataURL) {
		head, _, found := bytes.Cut(raw[:min(len(raw), 200)], []byte(","))
		if found && bytes.HasSuffix(head, base64Mark) {
			return strings.ToLower(string(head[len(dataURL) : len(head)-len(base64Mark)])), raw[len(head)+1:], true
		}
		return "", nil, false
	}
	if len(raw) < codedLeast {
		return "", nil, false
	}
	for _, c := range raw {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '+' || c == '/' || c == '=' || c == '-' || c == '_') {
			return "", nil, false
		}
	}
	return "", raw, true
}

var (
	dataURL    = []byte("data:")
	base64Mark = []byte(";base64")
	pdfStart   = []byte("JVBERi") // %PDF
)
