package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// judge says something of an answer, on the admin listener.
func (h *harness) judge(body string, header ...string) got {
	h.Helper()
	req, err := http.NewRequest("POST", h.admin+"/feedback", strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	g, err := read(h.client.Do(req))
	if err != nil {
		h.Fatal(err)
	}
	return g
}

// What callers say of their answers is added up by the rung that gave them, each once:
// the primary's, another upstream's and what is in memory, shown to operators.
func TestFeedbackIsAddedUpByRung(t *testing.T) {
	app, other := newMoody(), newMoody()
	h := beside(t, "slots: 4, deadline: 20s", "", fmt.Sprintf(`, { static: { file: %q } }`, static(t)), app, other)
	ask := func(id string) { h.get("/"+id, "X-Request-Id", id) }
	ask("p1")
	ask("p2")
	app.mood.Store("fails")
	ask("c1")
	ask("c2")
	ask("c3")
	other.mood.Store("fails")
	ask("s1")
	for body, status := range map[string]int{
		`{"id": "p1", "accepted": true}`:  204,
		`{"id": "p2", "accepted": false}`: 204,
		`{"id": "c1", "score": 0.25}`:     204,
		`{"id": "c2", "score": 0.75}`:     204,
		`{"id": "s1", "score": 0}`:        204,
		`{"id": "nobody", "score": 1}`:    404,
	} {
		if g := h.judge(body); g.StatusCode != status {
			t.Errorf("%s: %d %s", body, g.StatusCode, g.body)
		}
	}
	if g := h.judge(`{"id": "p1", "accepted": false}`); g.StatusCode != 404 {
		t.Errorf("a second time: %d", g.StatusCode)
	}
	var shown struct {
		Pools []struct {
			Class   string
			Quality []struct {
				Rung            string
				Answers, Judged int64
				Mean            *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(h.adminGet("/debug/pools", "Accept", "application/json").body), &shown); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range shown.Pools {
		for _, q := range p.Quality {
			got[p.Class+" "+q.Rung] = fmt.Sprintf("%d of %d: %.2f", q.Judged, q.Answers, *q.Mean)
		}
	}
	for rung, want := range map[string]string{"all primary": "2 of 2: 0.50", "all cheap": "2 of 3: 0.50", "all static": "1 of 1: 0.00"} {
		if got[rung] != want {
			t.Errorf("%s: %s, want %s", rung, got[rung], want)
		}
	}
	if text := h.adminGet("/debug/pools").body; !strings.Contains(text, "quality   cheap at a gap from 0.000: 0.500, give or take 0.490, of 2 judged of 3") {
		t.Errorf("not shown in\n%s", text)
	}
	if m := h.adminGet("/metrics").body; !strings.Contains(m, `spillway_feedback_score_ratio{class="all",gap="0.000",resource="app",rung="cheap",shed="no"} 0.5`) {
		t.Errorf("%s", lines(m, "spillway_feedback"))
	}
}

// Feedback is taken as changes are: from this machine or with the token; and what is
// none is told what would be right, whatever it is.
func TestWhoMayGiveFeedbackAndWhatIsNone(t *testing.T) {
	h := start(t, "admin: { address: \"127.0.0.1:9900\", token: \"0123456789abcdef0123456789abcdef\" }\n  all: {}\n", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	if g := h.judge(`{"id": "x", "score": 1}`); g.StatusCode != 401 {
		t.Errorf("without the token: %d", g.StatusCode)
	}
	token := []string{"Authorization", "Bearer 0123456789abcdef0123456789abcdef"}
	if g := h.judge(`{"id": "x", "score": 1}`, append(token, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")...); g.StatusCode != 403 {
		t.Errorf("from a web page elsewhere: %d", g.StatusCode)
	}
	for body, says := range map[string]string{
		``:            "no opinion",
		`[1]`:         "no opinion",
		`{"id": "x"}`: "one of score and accepted",
		`{"id": "x", "score": 1, "accepted": true}`:               "one of score and accepted",
		`{"id": "x", "score": 1.5}`:                               "from 0 to 1",
		`{"id": "x", "score": -1}`:                                "from 0 to 1",
		`{"id": "x", "score": 1, "extra": 2}`:                     "unknown field",
		`{"score": 1}`:                                            "id is missing",
		`{"id": "x", "score": 1}{"id": "y", "score": 1}`:          "more than one",
		`{"id": "` + strings.Repeat("x", 300) + `", "score": 1}`:  "too long",
		`{"id": "` + strings.Repeat("x", 5000) + `", "score": 1}`: "no opinion",
	} {
		if g := h.judge(body, token...); g.StatusCode != 400 || !strings.Contains(g.body, says) || !strings.Contains(g.body, "write {") {
			t.Errorf("%.60s: %d %s, want %q", body, g.StatusCode, g.body, says)
		}
	}
}
