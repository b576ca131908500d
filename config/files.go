package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Files are those whose content the configuration rests on: the file itself, if
// it was read from one, and all that it names with file:, in the order of the
// alphabet.
func (c *Config) Files() []string {
	if c.src == nil {
		return nil
	}
	files := []string{c.src.file}
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[StaticRung]():
			if s := v.Interface().(StaticRung); s.File != "" {
				files = append(files, c.Beside(s.File))
			}
		case v.Type() == textType:
			if path, ok := strings.CutPrefix(v.Interface().(Text).raw, "file:"); ok {
				if !filepath.IsAbs(path) {
					path = filepath.Join(filepath.Dir(c.src.file), path)
				}
				files = append(files, path)
			}
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case v.Kind() == reflect.Struct:
			for _, f := range fieldsOf(v.Type()) {
				walk(v.Field(f.index))
			}
		}
	}
	walk(reflect.ValueOf(*c))
	slices.Sort(files[1:])
	return slices.Compact(files)
}

// Fingerprint is of what files contain, or of why they cannot be read: it changes
// when they do, however they are replaced (written anew, renamed into place, a
// symbolic link turned elsewhere). A file counts up to 1 MiB.
func Fingerprint(files []string) string {
	sum := sha256.New()
	for _, name := range files {
		content, err := readBounded(name, maxFile)
		if err != nil {
			content = "cannot be read: " + err.Error()
		}
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(content)))
		sum.Write(length[:])
		sum.Write([]byte(content))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Digest is of what the configuration says, the same for every file that says
// the same: comments, order of keys and defaults written out make no difference.
// What ${NAME} and file: stand for is left out. 12 hexadecimal digits.
func (c *Config) Digest() string {
	text, err := yaml.Marshal(c.WithDefaults())
	if err != nil {
		return "" // a Config made in Go that no file could say
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
