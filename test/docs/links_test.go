package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is [text](target) or ![text](target), outside of code.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

var code = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

// heading is a line that a page can be entered at.
var heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)

func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, target := range links(read(t, page)) {
			file, fragment, _ := strings.Cut(target, "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue // out of reach of a test that needs no network
			}
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
			}
			info, err := os.Stat(filepath.Join(root, to))
			if err != nil {
				t.Errorf("%s: link to %s: there is no %s", page, target, to)
				continue
			}
			if fragment != "" && !info.IsDir() && strings.HasSuffix(to, ".md") && !anchors(read(t, to))[fragment] {
				t.Errorf("%s: link to %s: %s has no heading #%s", page, target, to, fragment)
			}
		}
	}
}

// links returns the targets of a page's links.
func links(text string) []string {
	var all []string
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, "`"), -1) {
		all = append(all, m[1])
	}
	return all
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the names under which a page's headings can be linked to, as
// GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, ""), -1) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

func TestLinks(t *testing.T) {
	page := "# A `b` & c: d\n[x](y.md#z) `[no](no.md)` ![p](p.svg)\n```sh\n[no](no.md)\n# no\n```\n"
	if got := strings.Join(links(page), " "); got != "y.md#z p.svg" {
		t.Errorf("links = %q", got)
	}
	if got := anchors(page); len(got) != 1 || !got["a-b--c-d"] {
		t.Errorf("anchors = %v", got)
	}
}
