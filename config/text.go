package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxSecret bounds what file: reads. A URL or a key is far smaller; a device or a
// log given by mistake is not.
const maxSecret = 64 << 10

// Text is a string in which ${NAME} is replaced from the environment and file:PATH
// by a file's content, for URLs and secrets that must not stand in the
// configuration. A relative PATH is beside the configuration file; one trailing
// line end is cut. The zero Text is empty.
//
// Text never shows what it was replaced by: String and YAML give it as written.
type Text struct{ raw, value string }

// Literal is a Text in which nothing is replaced.
func Literal(s string) Text { return Text{raw: s, value: s} }

// Value is the text with everything replaced. It may be a secret: do not log it.
func (t Text) Value() string { return t.value }

// IsZero reports whether nothing was written.
func (t Text) IsZero() bool { return t.raw == "" }

// String is the text as written, a password in a URL blotted out: safe to print.
func (t Text) String() string { return blot(t.raw) }

// GoString keeps %#v as quiet as String.
func (t Text) GoString() string { return "config.Text(" + quote(t.String()) + ")" }

// MarshalYAML writes the text as it was written, replacing nothing.
func (t Text) MarshalYAML() (any, error) { return t.raw, nil }

var userinfo = regexp.MustCompile(`//[^/@\s]*@`)

func blot(s string) string {
	if strings.Contains(s, "@") && !strings.Contains(s, "//") {
		return "***"
	}
	s = userinfo.ReplaceAllString(s, "//***@")
	if strings.Contains(userinfo.ReplaceAllString(s, ""), "@") {
		return "***"
	}
	return s
}

// world is what a Text may be replaced from; a test brings its own.
type world struct {
	env  func(name string) (string, bool)
	file func(path string) (string, error)
}

func realWorld(dir string) world {
	return world{env: os.LookupEnv, file: func(path string) (string, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return readBounded(path, maxSecret)
	}}
}

var errNotRegular = errors.New("is not a regular file")
var errTooLarge = errors.New("is too large")

// readBounded reads a regular file of at most limit bytes. A pipe or a device is
// refused before it is opened: it could block or never end.
func readBounded(path string, limit int64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", plainCause(err)
	}
	if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return "", plainCause(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", plainCause(err)
	}
	if int64(len(b)) > limit {
		return "", errTooLarge
	}
	return string(b), nil
}

// plainCause drops the path from a file error: the message names it already.
func plainCause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}?`)
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// resolve fills value from raw.
func (t *Text) resolve(raw string, w world) error {
	var err error
	value := variable.ReplaceAllStringFunc(raw, func(m string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(m, "${"), "}")
		switch {
		case !strings.HasSuffix(m, "}") || !variableName.MatchString(name):
			err = bad("write ${NAME} with letters, digits and _", "a variable is not well formed")
			return ""
		}
		v, ok := w.env(name)
		switch {
		case !ok:
			err = bad("set it, or write the value here", "environment variable %s is not set", name)
		case v == "":
			err = bad("give it a value", "environment variable %s is empty", name)
		}
		return v
	})
	if err != nil {
		return err
	}
	// Only a file: that was written counts. One that arrives in a variable would
	// let whoever sets the environment read files through messages of others.
	if path, ok := strings.CutPrefix(raw, "file:"); ok {
		if strings.Contains(raw, "${") {
			return bad("use one of the two", "file: and ${...} cannot be mixed")
		}
		content, err := w.file(path)
		if err != nil {
			return bad("check the path and who may read it", "file %s cannot be used: %v", quote(path), err)
		}
		value = strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r")
		if value == "" {
			return bad("put the value into it", "file %s is empty", quote(path))
		}
	}
	t.raw, t.value = raw, value
	return nil
}
