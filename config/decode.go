package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds what aliases can blow a file up to.
const maxNodes = 50_000

// decoder turns YAML nodes into a Config and keeps every problem it meets. It goes on
// after a problem, so that one run tells all.
type decoder struct {
	src   *source
	world world
	errs  Errors
	nodes int
}

// decode gives what could be read, or nil where data is no mapping at all.
func decode(name string, data []byte, w world) (*Config, Errors) {
	if len(data) > maxFile {
		return nil, Errors{tooLarge(name)}
	}
	d := &decoder{src: &source{file: name, at: map[string]position{}}, world: w}
	root, err := parseYAML(name, data)
	if err != nil {
		return nil, Errors{err}
	}
	if root.Kind != yaml.MappingNode {
		d.errAt(root, "", "is not a mapping", "write keys such as upstreams: and classes:")
		return nil, d.errs
	}
	c := &Config{src: d.src}
	d.value(root, reflect.ValueOf(c).Elem(), "")
	d.fixedAnswers(c)
	if d.nodes >= maxNodes {
		return nil, d.errs[len(d.errs)-1:] // the last thing noticed; the rest is half a file
	}
	return c, d.errs
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// parseYAML reads exactly one document.
func parseYAML(name string, data []byte) (root *yaml.Node, problem *Error) {
	fail := func(line int, what, fix string) *Error {
		return &Error{File: name, Line: max(line, 1), Column: 1, What: what, Fix: fix}
	}
	defer func() { // the library is not ours: what it panics with is a bad file, not the end
		if r := recover(); r != nil {
			root, problem = nil, fail(1, "not YAML", "check quotes, brackets and indentation")
		}
	}()
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := in.Decode(&doc); {
	case err == io.EOF || err == nil && len(doc.Content) == 0:
		return nil, fail(1, "file is empty", "start with version: 1, upstreams: and classes:, or use spillway serve --upstream URL")
	case err != nil:
		m := yamlLine.FindStringSubmatch(err.Error())
		if m == nil {
			return nil, fail(1, "not YAML", "check quotes, brackets and indentation")
		}
		line, _ := strconv.Atoi(m[1])
		return nil, fail(line, "not YAML: "+m[2], "check quotes, brackets and indentation here and in the line above")
	}
	if err := in.Decode(&more); err != io.EOF {
		return nil, fail(more.Line, "more than one document", "keep one; remove what follows the line ---")
	}
	return doc.Content[0], nil
}

func (d *decoder) errAt(n *yaml.Node, path, what, fix string) {
	verb := strings.HasPrefix(what, "is ") || strings.HasPrefix(what, "has ")
	switch {
	case strings.HasPrefix(what, "unknown "):
	case path == "" && verb:
		what = "the file " + what
	case verb:
		what = path + " " + what
	case path != "":
		what = path + ": " + what
	}
	d.errs = append(d.errs, &Error{File: d.src.file, Line: n.Line, Column: n.Column, Path: path, What: what, Fix: fix})
}

func (d *decoder) fail(n *yaml.Node, path string, err error) {
	p := err.(*problem)
	d.errAt(n, path, p.what, p.fix)
}

// value decodes n into v, which is addressable and zero.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if d.nodes++; d.nodes >= maxNodes {
		d.errAt(n, path, "the file holds more than 50,000 values, those behind aliases counted each time", "split it, or use fewer aliases")
		return
	}
	at := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if path != "" {
		d.src.at[path] = position{at.Line, at.Column}
	}
	isWord := n.Kind == yaml.ScalarNode
	if isWord && n.ShortTag() == "!!null" {
		d.errAt(at, path, "has no value", "write one, or remove the key to use its default")
		return
	}
	if isWord {
		d.notYet(at, path, "="+n.Value)
	}
	t := v.Type()
	switch {
	case t == textType:
		if !isWord || n.ShortTag() != "!!str" {
			d.errAt(at, path, "is not text", "write it in quotes")
		} else if err := v.Addr().Interface().(*Text).resolve(n.Value, d.world); err != nil {
			d.fail(at, path, err)
		}
	case isWord && isShort(t):
		d.value(n, reflect.ValueOf(v.Addr().Interface().(shortened).short()).Elem(), path)
	case isWord && isScalar(t):
		if err := v.Addr().Interface().(scalar).parse(n.ShortTag(), n.Value); err != nil {
			d.fail(at, path, err)
		}
	case isTuple(t):
		d.tuple(n, v, path)
	case t.Kind() == reflect.Struct && (len(fieldsOf(t)) > 0):
		d.mapping(n, v, path)
	case isScalar(t):
		d.errAt(at, path, "is not a single value", "write one "+v.Interface().(written).kind())
	case t.Kind() == reflect.Slice:
		d.list(n, v, path)
	case t.Kind() == reflect.Map:
		d.dict(n, v, path)
	default:
		d.word(n, at, v, path)
	}
}

// word decodes plain text and numbers.
func (d *decoder) word(n, at *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		d.errAt(at, path, "is not a single value", "write one "+kindName(v.Type()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if n.ShortTag() != "!!str" {
			d.errAt(at, path, quote(n.Value)+" is not text", "write it in quotes")
			return
		}
		v.SetString(n.Value)
	case reflect.Int, reflect.Int64:
		x, err := wholeNumber(n.ShortTag(), n.Value)
		if err != nil {
			d.fail(at, path, err)
			return
		}
		v.SetInt(x)
	case reflect.Float64:
		x, err := plainFloat(strings.TrimPrefix(n.Value, "-"))
		if tag := n.ShortTag(); err != nil || tag != "!!int" && tag != "!!float" {
			d.errAt(at, path, quote(n.Value)+" is not a number", "write a plain number such as 0.5")
			return
		}
		if strings.HasPrefix(n.Value, "-") {
			x = -x
		}
		v.SetFloat(x)
	}
}

// pair is a key and its value in a mapping, merged ones included.
type pair struct{ key, value *yaml.Node }

// pairs gives a mapping's entries without duplicates, `<<` followed once: what is
// written beats what is merged in.
func (d *decoder) pairs(n *yaml.Node, path string) []pair {
	if n.Kind != yaml.MappingNode {
		d.errAt(n, path, "is not a mapping", "write its keys, as in { key: value }")
		return nil
	}
	var out []pair
	var merged []*yaml.Node
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = &yaml.Node{Kind: k.Alias.Kind, Tag: k.Alias.Tag, Value: k.Alias.Value, Line: k.Line, Column: k.Column}
		}
		switch first := seen[k.Value]; {
		case k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge":
			merged = append(merged, val)
		case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!null":
			d.errAt(k, path, "has a key that is not text", "write a plain key")
		case first != nil:
			d.errAt(k, join(path, k.Value), "is written twice, first in line "+strconv.Itoa(first.Line), "keep one")
		default:
			seen[k.Value] = k
			out = append(out, pair{k, val})
		}
	}
	for _, m := range merged {
		if m.Kind == yaml.AliasNode {
			m = m.Alias
		}
		if m.Kind != yaml.MappingNode {
			d.errAt(m, path, "<< merges something that is not a mapping", "write <<: *name of one mapping")
			continue
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			k := m.Content[i]
			d.nodes++
			switch {
			case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" || k.ShortTag() == "!!null":
				d.errAt(k, path, "a mapping that is merged in holds something other than plain keys", "write the keys out")
			case seen[k.Value] == nil:
				seen[k.Value] = k
				out = append(out, pair{k, m.Content[i+1]})
			}
		}
	}
	return out
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode && isScalar(v.Type()) {
		d.errAt(n, path, "is neither a word nor a mapping", "write "+v.Interface().(written).kind()+", or keys in { }")
		return
	}
	before := len(d.errs)
	fields := fieldsOf(v.Type())
next:
	for _, p := range d.pairs(n, path) {
		for _, f := range fields {
			if f.key == p.key.Value {
				at := join(path, f.key)
				d.notYet(p.key, at, "")
				d.value(p.value, v.Field(f.index), at)
				continue next
			}
		}
		d.unknown(p.key, v.Type(), path)
	}
	if f, ok := v.Addr().Interface().(interface{ finish() error }); ok && n.Kind == yaml.MappingNode && len(d.errs) == before {
		if err := f.finish(); err != nil {
			d.fail(n, path, err)
		}
	}
}

func (d *decoder) unknown(k *yaml.Node, t reflect.Type, path string) {
	where := ""
	if path != "" {
		where = " in " + path
	}
	known := keysOf(t)
	fix := "known are " + strings.Join(known, ", ")
	if n := nearest(k.Value, known); n != "" {
		fix = fmt.Sprintf("did you mean %q?", n)
	} else if home := homeOf(k.Value); home != "" {
		fix = fmt.Sprintf("%q belongs in %s", k.Value, home)
	}
	d.errAt(k, join(path, k.Value), "unknown key "+quote(k.Value)+where, fix)
	d.errs[len(d.errs)-1].unknown = true
}

func (d *decoder) tuple(n *yaml.Node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	if n.Kind != yaml.SequenceNode || len(n.Content) != len(fields) {
		d.errAt(n, path, "is not a pair", "write [share, duration], as in [0.99, 3ms]")
		return
	}
	for i, f := range fields {
		d.value(n.Content[i], v.Field(f.index), join(path, f.key))
	}
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	elem := v.Type().Elem()
	if isNamed(elem) {
		for _, p := range d.pairs(n, path) {
			e := reflect.New(elem).Elem()
			e.FieldByName("Name").SetString(p.key.Value)
			d.value(p.value, e, join(path, p.key.Value))
			v.Set(reflect.Append(v, e))
		}
		return
	}
	items := n.Content
	switch {
	case n.Kind == yaml.ScalarNode && v.Type() == wordsType:
		one := reflect.New(elem).Elem()
		d.word(n, n, one, path)
		v.Set(reflect.Append(v, one))
		return
	case n.Kind != yaml.SequenceNode && v.Type() == listenersType:
		one := reflect.New(elem).Elem()
		d.value(n, one, path)
		v.Set(reflect.Append(v, one))
		return
	case n.Kind != yaml.SequenceNode:
		d.errAt(n, path, "is not a list", "write it in [ ]")
		return
	}
	for i, item := range items {
		e := reflect.New(elem).Elem()
		at := join(path, strconv.Itoa(i))
		d.notYet(item, at, "")
		d.value(item, e, at)
		v.Set(reflect.Append(v, e))
	}
}

func (d *decoder) dict(n *yaml.Node, v reflect.Value, path string) {
	for _, p := range d.pairs(n, path) {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(p.value, e, join(path, p.key.Value))
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(p.key.Value), e)
	}
}

func join(path, key string) string {
	if len(key) > 64 { // a message stays a line
		key = key[:64] + "..."
	}
	key = strings.ToValidUTF8(strings.Map(printable, key), "?")
	if path == "" {
		return key
	}
	return path + "." + key
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// homeOf is where a key that was written in the wrong place belongs, as
// "classes.NAME.budget"; "" if it is known nowhere.
func homeOf(key string) string {
	home := ""
	walkTypes(reflect.TypeFor[Config](), "", func(path string, _ reflect.Type, fields []field) {
		for _, f := range fields {
			if f.key == key && home == "" && path != "" {
				home = path
			}
		}
	})
	return home
}

// walkTypes visits every struct of the format, outermost first: "" is the file,
// NAME stands for a name and a list's entries have their list's path.
func walkTypes(t reflect.Type, path string, visit func(path string, t reflect.Type, fields []field)) {
	switch {
	case t == textType || isTuple(t):
		return
	case t.Kind() == reflect.Slice && isNamed(t.Elem()):
		walkTypes(t.Elem(), join(path, "NAME"), visit)
		return
	case t.Kind() == reflect.Slice:
		walkTypes(t.Elem(), path, visit)
		return
	case t.Kind() != reflect.Struct || len(fieldsOf(t)) == 0:
		return
	}
	fields := fieldsOf(t)
	visit(path, t, fields)
	for _, f := range fields {
		walkTypes(t.Field(f.index).Type, join(path, f.key), visit)
	}
}
