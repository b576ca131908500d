package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAKeysLife(t *testing.T) {
	folder := t.TempDir()
	key, told, code := spillway(t, folder, "keys", "create", "--name", "ci", "--tenant", "acme", "--role", "partner", "--valid", "24h")
	if code != exitDone || !strings.HasPrefix(key, "sw_") || !strings.Contains(told, "shown once") {
		t.Fatalf("create: %d, %q, %q", code, key, told)
	}
	content, err := os.ReadFile(filepath.Join(folder, "keys.json"))
	if err != nil || strings.Contains(string(content), strings.TrimSpace(key)) {
		t.Errorf("the file: %v, or it holds the key", err)
	}
	list, _, _ := spillway(t, folder, "keys", "ls")
	lines := strings.Split(list, "\n")
	id := strings.Fields(lines[1])[0]
	if !strings.Contains(lines[1], "ci    acme    partner  valid") || !strings.Contains(key, id) {
		t.Errorf("ls:\n%s", list)
	}
	if out, _, code := spillway(t, folder, "keys", "revoke", id); code != exitDone || out != "revoked: 1\n" {
		t.Errorf("revoke: %d, %q", code, out)
	}
	if _, told, code := spillway(t, folder, "keys", "revoke", id); code != exitFailed || !strings.Contains(told, "keys ls") {
		t.Errorf("revoked twice: %d, %q", code, told)
	}
	list, _, _ = spillway(t, folder, "keys", "ls", "--json")
	var doc struct{ Keys []keyDoc }
	if err := json.Unmarshal([]byte(list), &doc); err != nil || len(doc.Keys) != 1 || doc.Keys[0].State != "revoked" || doc.Keys[0].Expires == nil {
		t.Errorf("%v: %s", err, list)
	}
}

func TestWhatIsWrongWithAKey(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"keys create", exitUsage, "--name is missing"},
		{"keys create --name x --valid -1h", exitUsage, "2160h"},
		{"keys ls", exitFailed, "keys.json"},
		{"keys revoke", exitUsage, "at least 1"},
		{"keys make", exitUsage, "make"},
	} {
		if _, told, code := spillway(t, folder, strings.Fields(c.args)...); code != c.code || !strings.Contains(told, c.says) {
			t.Errorf("%s: %d, %q; want %d, %q", c.args, code, told, c.code, c.says)
		}
	}
}
