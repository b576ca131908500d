package propose

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/spillway-dev/spillway/config"
)

// Options of a proposal. The zero value reads what the file looks like.
type Options struct {
	Upstream string // URL of the service; default a place holder
	Format   string // of an access log; see trace.Options
	Mapping  string // of its columns
	Classes  int    // at most so many besides the rest; default 5
	Seed     uint64
}

// placeholder is what is written where nobody has said where the service is.
const placeholder = "http://127.0.0.1:9001"

// Proposal is a configuration with its reasoning.
type Proposal struct {
	Config *config.Config
	Head   []string          // about the whole
	Why    map[string]string // by place: see At
}

func newProposal() *Proposal {
	return &Proposal{Config: &config.Config{Version: 1}, Why: make(map[string]string)}
}

// At is the place of a key in Proposal.Why.
func At(path ...string) string { return strings.Join(path, "\x00") }

// say adds to the reasoning at a place.
func (p *Proposal) say(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if old := p.Why[path]; old != "" {
		text = old + "\n" + text
	}
	p.Why[path] = text
}

func (p *Proposal) head(format string, args ...any) {
	p.Head = append(p.Head, fmt.Sprintf(format, args...))
}

// service adds the upstream.
func (p *Proposal) service(url string) *config.Upstream {
	if url == "" {
		url = placeholder
		p.say(At("upstreams", "app", "url"), "Where the service is: put its address here.")
	}
	p.Config.Upstreams = []config.Upstream{{Name: "app", URL: config.Literal(url)}}
	return &p.Config.Upstreams[0]
}

// YAML renders the proposal as a file. The error is a fault in what was proposed.
func (p *Proposal) YAML() ([]byte, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := root.Encode(p.Config); err != nil {
		return nil, err
	}
	for path, text := range p.Why { // order does not matter: each has a place of its own
		key := find(&root, strings.Split(path, "\x00"))
		if key == nil {
			return nil, errors.New("BUG: a reason is given for " + strings.ReplaceAll(path, "\x00", ".") + ", which is not proposed")
		}
		key.HeadComment = commented(text)
	}
	if len(p.Head) > 0 && len(root.Content) > 0 {
		root.Content[0].HeadComment = commented(strings.Join(p.Head, "\n")) + "\n" // a blank line ends it
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// find returns the key at a path.
func find(n *yaml.Node, path []string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != path[0] {
			continue
		}
		if len(path) == 1 {
			return n.Content[i]
		}
		n.Content[i+1].Style = 0 // a flow has no room for comments
		return find(n.Content[i+1], path[1:])
	}
	return nil
}

// width is how long a comment's line may be.
const width = 110

// commented wraps text as comments.
func commented(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		length := 0
		b.WriteString("#")
		for word := range strings.FieldsSeq(line) {
			if length+len(word) > width {
				b.WriteString("\n#")
				length = 0
			}
			b.WriteString(" " + word)
			length += len(word) + 1
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
