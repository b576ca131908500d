package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestLoad offers load to a real server.
func TestLoad(t *testing.T) {
	var mu sync.Mutex
	tenants := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		tenants[r.URL.Path+" "+r.Header.Get("X-Tenant")]++
	}))
	defer server.Close()
	args := []string{
		"load", server.URL + "/{{.Class}}", "--classes", "checkout=1", "--tenants", "acme=1", "--header", "X-Tenant: {{.Tenant}}",
		"--rate", "100", "--arrivals", "constant", "--for", "200ms", "--json", "--lag-bound",
	}
	stdout, stderr, code := spillway(t, t.TempDir(), append(args, "10s")...)
	doc := document(t, stdout)
	if code != exitDone || doc["offered"] != 20.0 || doc["generator"] == nil || !strings.Contains(stderr, "generator: sent late by") {
		t.Errorf("exits %d, says %q and prints %.300s", code, stderr, stdout)
	}
	mu.Lock()
	if tenants["/checkout acme"] != 20 {
		t.Errorf("the server saw %v", tenants)
	}
	mu.Unlock()

	// A run that was too late to be believed says so, after its report.
	stdout, stderr, code = spillway(t, t.TempDir(), append(args, "1ns")...)
	if code != exitCheck || document(t, stdout)["warnings"] == nil || !strings.Contains(stderr, "too far behind its schedule") {
		t.Errorf("exits %d, says %q and prints %.300s", code, stderr, stdout)
	}
}
