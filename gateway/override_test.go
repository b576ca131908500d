package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// post asks the admin listener for a change, as an operator.
func (h *harness) post(path string, query ...string) got {
	h.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	req, err := http.NewRequest("POST", h.admin+path+"?"+q.Encode(), nil)
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set(gateway.HeaderOperator, "ana")
	g, err := read(h.client.Do(req))
	if err != nil {
		h.Fatal(err)
	}
	return g
}

const overrideFile = "version: 1\nupstreams: { app: { url: %q } }\nclasses: { pay: { match: { path: /pay }, slots: %d }, all: { slots: 8 } }\n"

// loaded runs a gateway whose file is whatever slots says of class pay; 0 leaves the
// class out.
func loaded(t *testing.T, slots *int) *harness {
	up := serviceAt(t, func(http.ResponseWriter, *http.Request) {})
	load := func() (*config.Config, error) {
		text := fmt.Sprintf(overrideFile, up, *slots)
		if *slots == 0 {
			text = fmt.Sprintf("version: 1\nupstreams: { app: { url: %q } }\nclasses: { all: { slots: 8 } }\n", up)
		}
		return config.Parse("test.yaml", []byte(text))
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
}

func (h *harness) slots(class string) int { h.Helper(); return h.state(class).Slots }

func TestAnOverrideHoldsForItsTimeAndSurvivesReloads(t *testing.T) {
	slots := 4
	h := loaded(t, &slots)
	if g := h.post("/override", "class", "pay", "slots", "2", "for", "1h", "why", "database failover"); g.StatusCode != 200 || !strings.Contains(g.body, "pay: slots=2 until ") {
		t.Fatalf("%d %s", g.StatusCode, g.body)
	}
	if h.slots("pay") != 2 || h.slots("all") != 8 {
		t.Fatalf("slots %d and %d", h.slots("pay"), h.slots("all"))
	}
	slots = 6
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	if h.slots("pay") != 2 {
		t.Errorf("%d slots after a reload; the override is put on top", h.slots("pay"))
	}
	if text := h.adminGet("/debug/pools").body; !strings.Contains(text, "app / pay (override: slots=2 until ") || !strings.Contains(text, "by ana; why: database failover)") {
		t.Errorf("pools:\n%s", text)
	}
	if !strings.Contains(h.adminGet("/metrics").body, `spillway_override_remaining_seconds{class="pay"}`) {
		t.Error("no metric of it")
	}
	if g := h.post("/override", "class", "pay", "slots", "3", "deadline", "5s", "for", "1h", "why", "better"); g.StatusCode != 200 {
		t.Fatalf("%d %s", g.StatusCode, g.body)
	}
	if g := h.post("/override", "class", "pay", "lift", "1", "why", "over"); g.StatusCode != 200 || h.slots("pay") != 6 {
		t.Errorf("%d %s: %d slots, the file has 6 by now", g.StatusCode, g.body, h.slots("pay"))
	}
	if g := h.post("/override", "class", "pay", "lift", "1"); g.StatusCode != 400 || !strings.Contains(g.body, "has no override") {
		t.Errorf("lifted twice: %d %s", g.StatusCode, g.body)
	}

	var shown struct {
		Overrides []gateway.Override
		Trail     []gateway.Entry
	}
	if err := json.Unmarshal([]byte(h.adminGet("/overrides", "Accept", "application/json").body), &shown); err != nil {
		t.Fatal(err)
	}
	did := ""
	for _, e := range shown.Trail {
		did += e.Did + " " + e.By + " " + e.Why + ", "
	}
	if did != "set ana database failover, replaced ana better, lifted ana over, " || len(shown.Overrides) != 0 {
		t.Errorf("trail: %s; in force: %v", did, shown.Overrides)
	}
}

func TestAnOverrideEndsByItself(t *testing.T) {
	slots := 4
	h := loaded(t, &slots)
	if _, err := h.Override("pay", map[string]string{"slots": "1"}, time.Second, "ana", "a try"); err != nil {
		t.Fatal(err)
	}
	if h.slots("pay") != 1 {
		t.Fatal("not in force")
	}
	until(t, "it is as the file says", func() bool { return h.slots("pay") == 4 })
	until(t, "the trail says so", func() bool { return strings.Contains(h.adminGet("/overrides").body, "expired") })
}

// What runs keeps its slot: a lowered limit cancels nothing.
func TestAnOverrideCancelsNothing(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 2 }", b.ServeHTTP)
	answers := make(chan got, 2)
	for range 2 {
		go func() { answers <- h.get("/") }()
		<-b.began
	}
	if g := h.post("/override", "class", "all", "slots", "1", "for", "1m", "why", "test"); g.StatusCode != 200 {
		t.Fatalf("%d %s", g.StatusCode, g.body)
	}
	for range 2 {
		b.let <- struct{}{}
		want(t, <-answers, 200, "served", "primary")
	}
}

// A reload is never refused because of an override; it takes away the one that it has no
// place for.
func TestAReloadDropsWhatHasNoPlace(t *testing.T) {
	slots := 4
	h := loaded(t, &slots)
	if _, err := h.Override("pay", map[string]string{"slots": "1"}, time.Hour, "ana", "a try"); err != nil {
		t.Fatal(err)
	}
	slots = 0
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	if text := h.adminGet("/overrides").body; !strings.Contains(text, "no override is in force") || !strings.Contains(text, `dropped   pay: slots=1  by reload: there is no class "pay"`) {
		t.Errorf("%s", text)
	}
}

func TestOverridesThatAreRefused(t *testing.T) {
	slots := 4
	h := loaded(t, &slots)
	for _, tt := range []struct {
		query string
		want  string
	}{
		{"class=pay&slots=2&why=x", "for: write a duration"},
		{"class=pay&slots=2&for=10m", "say why"},
		{"class=pay&slots=2&for=48h&why=x", "belongs into the file"},
		{"class=pay&for=10m&why=x", "say what is to be overridden"},
		{"class=pay&slots=0&for=10m&why=x", "slots: is 0; give more"},
		{"class=pay&slots=2&slots=3&for=10m&why=x", "slots is written 2 times"},
		{"class=pay&upstream=evil&for=10m&why=x", `"upstream" cannot be overridden`},
		{"class=nobody&slots=2&for=10m&why=x", `there is no class "nobody"`},
		{"slots=2&for=10m&why=x%0aforged", `there is no class ""`},
	} {
		req, _ := http.NewRequest("POST", h.admin+"/override?"+tt.query, nil)
		req.Header.Set(gateway.HeaderOperator, "ana")
		if g, err := read(h.client.Do(req)); err != nil || g.StatusCode != 400 || !strings.Contains(g.body, tt.want) {
			t.Errorf("%s: %d %s %v; want %q", tt.query, g.StatusCode, g.body, err, tt.want)
		}
	}
	req, _ := http.NewRequest("POST", h.admin+"/override?class=pay&slots=2&for=10m&why=x", io.NopCloser(strings.NewReader("")))
	if g, err := read(h.client.Do(req)); err != nil || g.StatusCode != 403 {
		t.Errorf("by nobody: %d %v", g.StatusCode, err)
	}
	if h.slots("pay") != 4 || strings.Contains(h.adminGet("/overrides").body, "set") {
		t.Error("something was changed")
	}
}
