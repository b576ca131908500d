package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// keyFile writes a file of keys and returns its path and the keys.
func keyFile(t *testing.T, names ...string) (path string, all []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys.json")
	f := &KeyFile{Version: 1}
	for _, n := range names {
		key, e := NewKey(n, n+"-tenant", "partner", noon, nil)
		all, f.Keys = append(all, key), append(f.Keys, e)
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path, all
}

func TestAKeyIsKnownAndItsFileHoldsNoKey(t *testing.T) {
	path, all := keyFile(t, "acme", "beta")
	content, _ := os.ReadFile(path)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
	for i, key := range all {
		if bytes.Contains(content, []byte(key)) || len(key) < 50 || !strings.HasPrefix(key, "sw_") {
			t.Errorf("the file holds the key, or it is not one: %q", key)
		}
		id := a.Identify(request("X-Api-Key", key), false)
		if want := []string{"acme", "beta"}[i]; id.Name != want || id.Tenant != want+"-tenant" || id.Sources != Key {
			t.Errorf("%+v, want %s", id, want)
		}
	}
	for _, wrong := range []string{all[0][:len(all[0])-1], all[0] + "x", "sw_", "x", strings.Repeat("k", 10_000)} {
		if id := a.Identify(request("X-Api-Key", wrong), false); id.Verified() || id.Failed == Held {
			t.Errorf("%.20q: %+v", wrong, id)
		}
	}
}

func TestARevokedKeyIsNoKey(t *testing.T) {
	path, all := keyFile(t, "acme")
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
	f, err := LoadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Revoke(f.Keys[0].ID, noon) || f.Revoke(f.Keys[0].ID, noon) || f.Revoke("nobody", noon) {
		t.Error("a key is revoked once, and only one that is there")
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if changed, err := a.keys.refresh(); !changed || err != nil {
		t.Fatalf("the file was not read again: %v, %v", changed, err)
	}
	if id := a.Identify(request("X-Api-Key", all[0]), false); id.Verified() || id.Failed != Revoked {
		t.Errorf("%+v", id)
	}
}

func TestAnExpiredKeyIsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	soon := noon.Add(time.Hour)
	key, e := NewKey("acme", "", "", noon, &soon)
	if err := (&KeyFile{Version: 1, Keys: []Entry{e}}).Save(path); err != nil {
		t.Fatal(err)
	}
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
	for at, why := range map[time.Time]Failure{soon.Add(-1): Held, soon: Expired} {
		a.now = func() time.Time { return at }
		if id := a.Identify(request("X-Api-Key", key), false); id.Failed != why {
			t.Errorf("at %v: %v, want %v", at, id.Failed, why)
		}
	}
	if e.State(noon) != "valid" || e.State(soon) != "expired" {
		t.Error("the list says otherwise")
	}
}

func TestABrokenKeyFileLeavesTheOldKeysInForce(t *testing.T) {
	path, all := keyFile(t, "acme")
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
	for _, broken := range []string{"", "{", `{"version":2}`} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := a.keys.refresh(); err == nil {
			t.Errorf("%q is accepted", broken)
		}
	}
	os.Remove(path)
	if _, err := a.keys.refresh(); err == nil {
		t.Error("a file that is gone is accepted")
	}
	if id := a.Identify(request("X-Api-Key", all[0]), false); !id.Verified() {
		t.Errorf("%+v", id)
	}
}

func TestWhatAKeyFileSaysIsWrong(t *testing.T) {
	entry := func(change func(*Entry)) string {
		_, e := NewKey("acme", "", "", noon, nil)
		e.ID = "aaaa"
		change(&e)
		b, _ := json.Marshal(e)
		return fmt.Sprintf(`{"version":1,"keys":[%s]}`, b)
	}
	for _, c := range []struct{ content, want string }{
		{``, "spillway keys create"},
		{`{"version":1,"kyes":[]}`, `unknown field "kyes"`},
		{`{"version":1} x`, "something follows its end"},
		{`{}`, "version 0"},
		{entry(func(e *Entry) { e.Hash = "abc" }), "key 1: sha256"},
		{entry(func(e *Entry) { e.Hash = strings.ToUpper(e.Hash) }), "key 1: sha256"},
		{entry(func(e *Entry) { e.ID = "../x" }), "key 1: id"},
		{entry(func(e *Entry) { e.Name = "" }), "name is missing"},
		{entry(func(e *Entry) { e.Role = "a\nb" }), "role holds what cannot be printed"},
		{entry(func(e *Entry) { e.Tenant = strings.Repeat("t", 200) }), "tenant is longer"},
		{strings.Replace(entry(func(*Entry) {}), `"keys":[`, `"keys":[`+entry(func(*Entry) {})[len(`{"version":1,"keys":[`):len(entry(func(*Entry) {}))-2]+`,`, 1), "there twice"},
	} {
		if _, err := ParseKeys([]byte(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.content, err, c.want)
		}
	}
}

func TestTwoWritersOfAKeyFileDoNotLoseAKey(t *testing.T) {
	path, _ := keyFile(t, "acme")
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, _ := LoadKeys(path)
	if err := f.Save(path); err == nil || !strings.Contains(err.Error(), "another change is under way") {
		t.Errorf("%v", err)
	}
	if _, err := LoadOrNewKeys(filepath.Join(t.TempDir(), "none.json")); err != nil {
		t.Errorf("a file that is not there yet is an empty one: %v", err)
	}
	if _, err := New(Config{KeyFile: filepath.Join(t.TempDir(), "none.json")}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a gateway is told how to make one: %v", err)
	}
}

func FuzzParseKeys(f *testing.F) {
	_, e := NewKey("acme", "t", "r", noon, nil)
	b, _ := json.Marshal(KeyFile{1, []Entry{e}})
	f.Add(b)
	f.Add([]byte(`{"version":1,"keys":[{"id":""}]}`))
	f.Add([]byte(`{"version":1,"keys":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		k, err := ParseKeys(content)
		if err != nil {
			return
		}
		again, _ := json.Marshal(k)
		if _, err := ParseKeys(again); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}

func authority(t testing.TB, cfg Config) *Authority {
	t.Helper()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a.now = func() time.Time { return noon }
	return a
}

func request(header ...string) *http.Request {
	r := &http.Request{Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// Clients of other services send a key where that service expects it.
func TestAKeyIsFoundWhereClientsPutIt(t *testing.T) {
	path, all := keyFile(t, "acme", "beta")
	for _, c := range []struct {
		header, name, value string
		known               string
	}{
		{"X-Api-Key", "X-Api-Key", all[0], "acme"},
		{"X-Api-Key", "Authorization", "Bearer " + all[0], "acme"},
		{"X-Api-Key", "Authorization", "bearer  " + all[0], "acme"},
		{"X-Api-Key", "Authorization", all[0], "acme"},
		{"X-Api-Key", "Authorization", "Basic " + all[0], ""},
		{"X-Api-Key", "Authorization", "Bearer sk-somebody-elses", ""},
		{"Authorization", "Authorization", "Bearer " + all[0], "acme"},
		{"Authorization", "X-Api-Key", all[0], ""},
	} {
		a := authority(t, Config{KeyFile: path, KeyHeader: c.header})
		if id := a.Identify(request(c.name, c.value), false); id.Name != c.known {
			t.Errorf("%s: %.12s in %s is %q, want %q", c.header, c.value, c.name, id.Name, c.known)
		}
	}
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
	r := request("X-Api-Key", all[0])
	r.Header.Set("Authorization", "Bearer "+all[1])
	if id := a.Identify(r, false); id.Name != "acme" {
		t.Errorf("of two the configured header's counts, and %q was taken", id.Name)
	}
}
