package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestJSONIsOneDocument: with --json there is one document on stdout and nothing
// else, whatever else is told on stderr.
func TestJSONIsOneDocument(t *testing.T) {
	folder := files(t)
	for _, c := range []struct {
		args   string
		fields string
	}{
		{"version", "version go os arch"},
		{"check", "file ok errors warnings"},
		{"check -c warned.yaml", "file ok errors warnings"},
		{"check -c wrong.yaml", "file ok errors warnings"},
		{"check -c none.yaml", "file ok errors warnings"},
		{"plan -c warned.yaml", "classes upstreams warnings"},
		{"sim -c warned.yaml --for 1s --report page.html", "mode seed offered seconds classes tenants reasons answered"},
		{"sim --for 1s --rate 1", "goodput_per_s p50_ms p90_ms p99_ms p999_ms max_ms refused_p50_ms refused_p99_ms queue_wait_p50_ms queue_wait_p99_ms utilisation calls_per_request"},
		{"lab fair", "mode seed"},
	} {
		t.Run(c.args, func(t *testing.T) {
			stdout, stderr, _ := spillway(t, folder, append(strings.Fields(c.args), "--json")...)
			if stdout == "" {
				t.Fatalf("no document; stderr says %s", stderr)
			}
			doc := document(t, stdout)
			for field := range strings.FieldsSeq(c.fields) {
				if _, ok := doc[field]; !ok {
					t.Errorf("no field %s in %.300s", field, stdout)
				}
			}
		})
	}
}

// TestResultsOnStdout: what was asked for is on stdout, all else on stderr.
func TestResultsOnStdout(t *testing.T) {
	folder := files(t)
	stdout, stderr, _ := spillway(t, folder, "sim", "-c", "warned.yaml", "--for", "1s", "--report", "page.html")
	if strings.Contains(stdout, "warned.yaml:") || strings.Contains(stdout, "page.html\n") && !strings.Contains(stdout, "repeat:") {
		t.Errorf("stdout holds more than the result:\n%s", stdout)
	}
	if !strings.Contains(stderr, "warned.yaml:3:") || !strings.Contains(stderr, "page: page.html") {
		t.Errorf("stderr does not tell the warning and the page:\n%s", stderr)
	}
	if !strings.Contains(stdout, "repeat: spillway sim -c warned.yaml --for 1s --report page.html") {
		t.Errorf("the result does not say how to repeat it:\n%s", stdout)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if n := len([]rune(line)); n > 100 && !strings.HasPrefix(line, "repeat:") {
			t.Errorf("a line of %d columns, more than 100: %s", n, line)
		}
	}
}

// TestSameSeedSameBytes: a simulation depends on nothing but its flags and files.
func TestSameSeedSameBytes(t *testing.T) {
	folder := files(t)
	args := strings.Fields("sim --class checkout --rate 500:10s,900:10s --for 20s --tenants acme=2,beta=1 --importance user=3,prefetch=1 " +
		"--service lognormal:mean=100ms,p99=400ms --slow x3@5s+2s --retries 2 --backoff 50ms-1s --retry-budget 0.1 --json")
	first, _, _ := spillway(t, folder, args...)
	second, _, _ := spillway(t, folder, args...)
	if first != second {
		t.Error("the same command printed something else the second time")
	}
	other, _, _ := spillway(t, folder, append(args[:len(args):len(args)], "--seed", "2")...)
	if document(t, first)["offered"] == document(t, other)["offered"] {
		t.Error("another seed draws the same requests")
	}
}

// TestReportPage: the page is whole, needs nothing from elsewhere, and runs no
// script that its policy would not let it.
func TestReportPage(t *testing.T) {
	folder := files(t)
	spillway(t, folder, "sim", "--class", "checkout", "--rate", "800", "--for", "2s", "--tenants", "<b>=1,acme=1", "--report", "page.html")
	text, err := os.ReadFile(filepath.Join(folder, "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := html.Parse(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n := range page.Descendants() {
		seen[n.Data]++
		for _, a := range n.Attr {
			if (a.Key == "src" || n.Data == "link") && strings.Contains(a.Val, "//") {
				t.Errorf("<%s %s=%q> needs the network", n.Data, a.Key, a.Val)
			}
		}
	}
	for _, element := range []string{"title", "svg", "table"} {
		if seen[element] == 0 {
			t.Errorf("no <%s> in the page", element)
		}
	}
	if !strings.Contains(string(text), "&lt;b&gt;") {
		t.Error("a tenant's name is not escaped, or not shown")
	}
}
