package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExitCodes says what ends with what, and what is said about it.
func TestExitCodes(t *testing.T) {
	folder := files(t)
	for _, c := range []struct {
		args string
		code int
		says string // on stderr, in one piece
	}{
		{"", exitDone, ""},
		{"version", exitDone, ""},
		{"--version", exitDone, ""},
		{"check", exitDone, ""},
		{"check -c warned.yaml", exitDone, "warned.yaml:3:"},
		{"plan --rate 450", exitDone, ""},
		{"sim --for 1s", exitDone, ""},
		{"sim --trace trace.csv --map at=at:s,tenant=who,service=took:s", exitDone, "warning: trace: "},
		{"lab fair --policy rr", exitDone, ""},

		{"load http://127.0.0.1:1/ --rate 10 --for 100ms", exitFailed, "connection refused"},
		{"sim --report nowhere/page.html --for 1s", exitFailed, "nowhere/page.html"},
		{"lab verify nowhere", exitFailed, "nowhere"},
		{"serve --upstream http://127.0.0.1:1 --listen 203.0.113.1:1 --admin 127.0.0.1:0", exitFailed, "203.0.113.1:1"},

		{"chek", exitUsage, `unknown command "chek"`},
		{"chek", exitUsage, "check"}, // what was meant
		{"check file.yaml", exitUsage, "file.yaml"},
		{"check --strict", exitUsage, "unknown flag: --strict"},
		{"check --strict", exitUsage, "see: spillway check --help"},
		{"check -c none.yaml", exitUsage, "none.yaml"},
		{"check -c wrong.yaml", exitUsage, "wrong.yaml:5:43"},
		{"check -c wrong.yaml", exitUsage, "deadline"}, // the nearest known key
		{"check -c wrong.yaml --json", exitUsage, ""},
		{"plan -c wrong.yaml", exitUsage, "wrong.yaml:5:43"},
		{"plan --rate many", exitUsage, "--rate"},
		{"sim -c wrong.yaml", exitUsage, "wrong.yaml:5:43"},
		{"sim -c unknown.yaml", exitUsage, "service: 100ms"}, // the line to add
		{"sim --unprotected -c unknown.yaml --service 10ms", exitUsage, "slots: N"},
		{"sim --rate 100:", exitUsage, "100:60s"},
		{"sim --arrivals often", exitUsage, "poisson"},
		{"sim --class nobody", exitUsage, "checkout, analytics, everything"},
		{"sim --service soon", exitUsage, "100ms"},
		{"sim --slow outage", exitUsage, "outage@20s+10s"},
		{"sim --backoff 1s-soon", exitUsage, "100ms-2s"},
		{"sim --retries -1", exitUsage, "0 to 1000"},
		{"sim --retry-budget -1", exitUsage, "budget"},
		{"sim --tenants acme=x", exitUsage, "acme"},
		{"sim --trace nowhere.csv", exitUsage, "nowhere.csv"},
		{"sim --trace text.csv", exitUsage, "at="},
		{"sim --trace trace.csv --map at=", exitUsage, "at="},
		{"sim --warm-up 2m --for 1m", exitUsage, "shorter"},
		{"demo --trace trace.csv --map at=", exitUsage, "at="},
		{"load", exitUsage, "URL"},
		{"load nonsense", exitUsage, "http://"},
		{"load http://127.0.0.1:1/ --protocol http9", exitUsage, "http1"},
		{"load http://127.0.0.1:1/{{.Nobody}}", exitUsage, "Nobody"},
		{"lab", exitUsage, "fair"},
		{"lab fair --policy best", exitUsage, "drr"},
		{"lab fair --weights A=x", exitUsage, "2:1:1"},
		{"lab serve", exitUsage, "not yet"},
		{"override set all", exitUsage, "requires at least 2 arg"},
		{"override set all slots --for 1m --why x", exitUsage, "slots=20"},
		{"override set all slots=2 slots=3 --for 1m --why x", exitUsage, "given twice"},
		{"override set all upstream=b --for 1m --why x", exitUsage, "slots, borrow"},
		{"override set all slots=2 --why x", exitUsage, "--for 10m"},
		{"override set all slots=2 --for 10m", exitUsage, "--why"},
		{"override ls --admin 127.0.0.1:1", exitFailed, "no gateway answers"},
		{"override lift all", exitUsage, "override"},
		{"serve --upstream 127.0.0.1", exitUsage, "http://"},
		{"serve --upstream http://127.0.0.1:1 -c spillway.yaml", exitUsage, "one of them"},
		{"serve -c wrong.yaml", exitUsage, "wrong.yaml:5:43"},
		{"serve --upstream http://127.0.0.1:1 --listen nonsense", exitUsage, "listen is not an address"},
	} {
		t.Run(c.args, func(t *testing.T) {
			_, stderr, code := spillway(t, folder, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(stderr, c.says) {
				t.Errorf("exits %d, want %d, and says on stderr\n%s\nwhich must contain %q", code, c.code, stderr, c.says)
			}
			if strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic") {
				t.Errorf("a fault of the user's is no fault of the program's:\n%s", stderr)
			}
			if c.code == exitUsage && !strings.Contains(c.args, "--json") && (stderr == "" || strings.Count(stderr, "\n") > 5) {
				t.Errorf("a mistake is to be told in a line or two:\n%s", stderr)
			}
		})
	}
}

func TestServeNeedsAFileOrAService(t *testing.T) {
	_, stderr, code := spillway(t, t.TempDir(), "serve")
	if code != exitUsage || !strings.Contains(stderr, "-c") || !strings.Contains(stderr, "--upstream") {
		t.Errorf("exits %d and says %q", code, stderr)
	}
}

// TestHelp holds every command to showing how it is used.
func TestHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		later := strings.HasSuffix(c.Short, "(not yet)")
		generated := c.Name() == "help" || c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion"
		if c.Short == "" {
			t.Errorf("%s: says nothing of itself", c.CommandPath())
		}
		if !later && !generated && !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: no example in its help", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}

// TestExamplesParse reads the flags of every example in every help.
func TestExamplesParse(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.SplitSeq(c.Example, "\n") {
			for part := range strings.SplitSeq(line, "&&") {
				text, _, _ := strings.Cut(part, " #")
				text, _, _ = strings.Cut(text, ">")
				words := strings.Fields(strings.ReplaceAll(text, "'", ""))
				if len(words) == 0 || words[0] != "spillway" {
					continue
				}
				to, rest, err := newRoot().Find(words[1:])
				if err == nil && !to.DisableFlagParsing {
					err = to.ParseFlags(unquoted(rest))
				}
				if err != nil {
					t.Errorf("%s: example %q: %v", c.CommandPath(), strings.TrimSpace(part), err)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}

// unquoted joins what Fields has cut of a header in quotes.
func unquoted(words []string) []string {
	var all []string
	for _, w := range words {
		if w == "{{.Tenant}}" && len(all) > 0 {
			all[len(all)-1] += " " + w
			continue
		}
		all = append(all, w)
	}
	return all
}

func TestCompletion(t *testing.T) {
	script, stderr, code := spillway(t, t.TempDir(), "completion", "bash")
	if code != exitDone || stderr != "" {
		t.Fatalf("exits %d and says %q", code, stderr)
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		c := exec.Command(bash, "-n")
		c.Stdin = strings.NewReader(script)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("bash cannot read its completion: %v\n%s", err, out)
		}
	}
	offers, _, _ := spillway(t, t.TempDir(), "__complete", "")
	for _, name := range []string{"serve", "demo", "check", "plan", "sim", "load", "lab", "version"} {
		if !strings.Contains(offers, name+"\t") {
			t.Errorf("completion does not offer %s: %s", name, offers)
		}
	}
	// Files are asked for by their endings.
	if offers, _, _ := spillway(t, t.TempDir(), "__complete", "check", "-c", ""); !strings.HasPrefix(offers, "yaml\nyml\n") {
		t.Errorf("-c offers %q", offers)
	}
}

func TestSchema(t *testing.T) {
	stdout, _, code := spillway(t, t.TempDir(), "check", "--schema") // needs no file
	doc := document(t, stdout)
	if code != exitDone || doc["$schema"] == nil || doc["properties"] == nil {
		t.Errorf("exits %d and prints %.200s", code, stdout)
	}
	if !json.Valid([]byte(stdout)) {
		t.Error("the schema is not JSON")
	}
}
