package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/config"
)

// learnedState is what /debug/pools shows of a gap.
type learnedState struct {
	Buckets []struct {
		Bucket                           string
		Samples, Mean, Lower, Upper, Gap float64
		Known                            bool
	}
	Compared, Unspared, Unanswered, Unlike int64
	NoPlace                                int64 `json:"no_place"`
}

func (h *harness) learned() learnedState {
	h.Helper()
	var shown struct {
		Pools []struct {
			Class string
			Gap   learnedState
		}
	}
	if err := json.Unmarshal([]byte(h.adminGet("/debug/pools", "Accept", "application/json").body), &shown); err != nil {
		h.Fatal(err)
	}
	return shown.Pools[0].Gap
}

// drifting is a service whose lists under /moving/ are others each time.
func drifting() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		at := n.Add(1)
		switch {
		case r.URL.Path == "/fails":
			w.WriteHeader(http.StatusInternalServerError)
		case r.URL.Path == "/large":
			io.WriteString(w, strings.Repeat("x", 2000))
		case strings.HasPrefix(r.URL.Path, "/moving/"):
			fmt.Fprintf(w, `{"items":[{"id":%d},{"id":1}]}`, at+10)
		default:
			io.WriteString(w, `{"items":[{"id":2},{"id":1}]}`)
		}
	}
}

// compared asks until one more answer has been compared: the first has nothing beside
// it, and what is kept is kept a moment after its caller has it.
func (h *harness) compared(path string) {
	h.Helper()
	for before := h.learned(); h.learned().Compared == before.Compared; {
		seen := h.learned().looked()
		h.get(path)
		until(h, "it is looked at", func() bool { return h.learned().looked() == seen+1 })
	}
}

func (s learnedState) looked() int64 { return s.Compared + s.Unspared + s.Unanswered }

const learning = `  lists:
    slots: 8
    ladder: [cache: { ttl: 60s }]
    gap: { learned: { compare: { overlap: items, id: id }, by: "path", sample: 100%, enough: 10, body: 1KiB, at_once: 4 } }
`

func TestTheGapIsLearnedOfEachBucket(t *testing.T) {
	h := start(t, learning, drifting())
	for range 29 {
		h.compared("/stable/")
		h.compared("/moving/")
	}
	s := h.learned()
	if len(s.Buckets) != 2 || s.Unanswered < 2 || s.Unspared != 0 {
		t.Fatalf("%+v; want two buckets, and of each the first answer not compared", s)
	}
	for _, b := range s.Buckets {
		want := map[string]float64{"/stable/": 0, "/moving/": 0.5}[b.Bucket]
		if b.Mean != want || !b.Known || b.Gap < b.Mean || b.Gap > b.Mean+0.2 || b.Samples < 28 {
			t.Errorf("%+v; want a mean of %v and a gap a little above", b, want)
		}
	}
	metrics := h.adminGet("/metrics").body
	for _, want := range []string{
		`spillway_gap_samples_total{came="compared",class="lists",resource="app"} 58`,
		`spillway_gap_ratio{bound="mean",bucket="/moving/",class="lists",resource="app"} 0.5`,
		`spillway_gap_buckets{class="lists",known="yes",resource="app"} 2`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics do not say %s", want)
		}
	}
	if page := h.adminGet("/debug/pools").body; !strings.Contains(page, "gap       58 compared") || !strings.Contains(page, "/moving/") {
		t.Errorf("the page does not say it:\n%s", page)
	}
}

// What is not to be compared is passed on like anything else, and takes no place.
func TestWhatIsNotCompared(t *testing.T) {
	h := start(t, learning, drifting())
	h.get("/stable/")
	for _, c := range []struct {
		say, method, path string
		header            []string
	}{
		{"a method that is not listed", "POST", "/stable/", nil},
		{"an error", "GET", "/fails", nil},
		{"a large answer", "GET", "/large", nil},
	} {
		for range 10 {
			h.send(c.method, c.path, nil, c.header...)
		}
		if s := h.learned(); s.Compared+s.Unspared+s.Unlike != 0 {
			t.Errorf("%s: %+v", c.say, s)
		}
	}
	h.compared("/stable/")
}

// Learning never adds load when there is none to spare: with half of the slots held
// nothing is compared.
func TestNothingIsLearnedWithoutCapacityToSpare(t *testing.T) {
	held, free := make(chan struct{}, 10), make(chan struct{})
	h := start(t, learning, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			held <- struct{}{}
			<-free
		}
		io.WriteString(w, `{"items":[]}`)
	})
	h.get("/a")
	done := make(chan struct{}, 4)
	for range 4 {
		go func() { h.get("/hold"); done <- struct{}{} }()
		<-held
	}
	for range 20 {
		h.get("/a")
	}
	if s := h.learned(); s.Compared != 0 || s.Unspared != 20 {
		t.Errorf("%+v with half of the slots held; want nothing compared, 20 without capacity", s)
	}
	close(free)
	for range 4 {
		<-done
	}
	until(t, "it learns again", func() bool { h.get("/a"); return h.learned().Compared > 0 })
}

// What was learned survives a reload, unless the reload changes what it means.
func TestAReloadKeepsWhatWasLearned(t *testing.T) {
	text := func(by, sample string) string {
		return fmt.Sprintf("  lists: { upstream: app, ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact, by: %q, sample: %s } } }\n", by, sample)
	}
	app := serviceAt(t, drifting())
	h := startFile(t, app, app, text("path", "100%"))
	for range 4 {
		h.compared("/stable/")
	}
	h.reload(fileOf(app, app, text("path", "50%")))
	if s := h.learned(); s.Compared != 4 || len(s.Buckets) != 1 {
		t.Errorf("after a reload of the share: %+v", s)
	}
	h.reload(fileOf(app, app, text("method", "50%")))
	if s := h.learned(); s.Compared != 0 || len(s.Buckets) != 0 {
		t.Errorf("after a reload of what a bucket is: %+v", s)
	}
}

// A caller that makes up a bucket for each request fills no memory and no page, and
// becomes no label.
func TestMadeUpBucketsAreBounded(t *testing.T) {
	text := strings.NewReplacer(`by: "path"`, `by: "headers['x-b']", buckets: 4`, "ttl: 60s", "ttl: 60s, ignore: [X-B]", "slots: 8", "slots: 64").Replace(learning)
	h := start(t, text, drifting())
	h.compared("/stable/")
	for i := range 60 {
		h.get("/stable/", "X-B", fmt.Sprint(i, "<script>", strings.Repeat("b", 5000)))
	}
	until(t, "they are compared", func() bool { s := h.learned(); return s.Compared+s.Unspared == 61 })
	s := h.learned()
	if len(s.Buckets) > 4 || s.NoPlace == 0 {
		t.Errorf("%d buckets, %d had no place; want 4 at most, and the others none", len(s.Buckets), s.NoPlace)
	}
	if page := h.adminGet("/debug/pools").body; len(page) > 5000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if metrics := h.adminGet("/metrics").body; strings.Contains(metrics, "<script>") {
		t.Errorf("what a caller made up is a label:\n%.300s", metrics[strings.Index(metrics, "<script>")-200:])
	}
}

// elsewhere is a class with another upstream below the primary, and what is learned.
func elsewhere(t *testing.T, primary, cheap http.HandlerFunc) *harness {
	text := fmt.Sprintf(`version: 1
upstreams:
  app: { url: %q, slots: 8 }
  cheap: { url: %q, slots: 4, service: 5ms }
classes:
  lists:
    upstream: app
    slots: 8
    deadline: 5s
    call: { timeout: 2s }
    ladder: [upstream: cheap]
    gap: { learned: { compare: { number: score }, by: "path", sample: 100%%, enough: 10, at_once: 8, method: [GET, POST] } }
`, serviceAt(t, primary), serviceAt(t, cheap))
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return startConfig(t, cfg)
}

// The same question is put to the other upstream, in its own pool, when the caller has
// its answer, and the caller sees nothing of it.
func TestTheGapOfAnotherUpstreamIsLearned(t *testing.T) {
	var asked atomic.Int64
	h := elsewhere(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"score":100}`)
	}, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		score := map[string]int{"/near": 100, "/far": 25}[r.URL.Path]
		if r.Method == http.MethodPost && string(body) != "a question" {
			score = 0
		}
		w.Header().Set("Set-Cookie", "of=the-other")
		fmt.Fprintf(w, `{"score":%d}`, score)
	})
	for i := range 20 {
		for _, path := range []string{"/near", "/far"} {
			got := h.send("POST", path, strings.NewReader("a question"))
			want(t, got, 200, "served", "primary")
			if got.body != `{"score":100}` || got.Header.Get("Set-Cookie") != "" {
				t.Fatalf("the caller was told %q, %v", got.body, got.Header)
			}
		}
		until(t, "both are compared", func() bool { return h.learned().Compared == int64(2*i+2) })
	}
	for _, b := range h.learned().Buckets {
		if mean := map[string]float64{"/near": 0, "/far": 0.75}[b.Bucket]; b.Mean != mean || !b.Known {
			t.Errorf("%+v, want a mean of %v", b, mean)
		}
	}
	if s := h.Gate("cheap").States()[0]; s.Tally.Offered != 40 || asked.Load() != 40 {
		t.Errorf("the other was asked %d times, its pool was offered %d; want 40 each", asked.Load(), s.Tally.Offered)
	}
	h.stop()
	if err := h.Gate("cheap").Check(); err != nil || h.Gate("cheap").States()[0].Used != 0 {
		t.Errorf("the accounts of the other's pool: %v, %d slots held", err, h.Gate("cheap").States()[0].Used)
	}
}

// A pool that is half full is left alone; an upstream that fails, hangs or breaks off
// has no answer to compare; and whatever it does, callers are served as ever.
func TestAnotherUpstreamInTroubleIsLeftAlone(t *testing.T) {
	for mood, want := range map[string]func(learnedState) bool{
		"fails": func(s learnedState) bool { return s.Unanswered == 10 && s.Compared == 0 },
		"drops": func(s learnedState) bool { return s.Unanswered == 10 && s.Compared == 0 },
		// The first two hold half of its slots.
		"hangs": func(s learnedState) bool { return s.Unspared == 8 && s.Compared == 0 },
	} {
		t.Run(mood, func(t *testing.T) {
			cheap := newMoody()
			cheap.mood.Store(mood)
			h := elsewhere(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"score":100}`) }, cheap.ServeHTTP)
			for i := range 10 {
				if got := h.get("/near"); got.body != `{"score":100}` {
					t.Fatalf("the caller was told %d %q", got.StatusCode, got.body)
				}
				if mood != "hangs" {
					until(t, "it has been asked", func() bool { return h.learned().Unanswered == int64(i+1) })
				} else if i < 2 {
					until(t, "it hangs", func() bool { return cheap.seen.Load() == int64(i+1) })
				}
			}
			if s := h.learned(); !want(s) {
				t.Errorf("%+v", s)
			}
			close(cheap.freed)
		})
	}
}
