package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// reloadable is a gateway whose configuration is a file.
type reloadable struct {
	*harness
	path string
}

// startFile runs a gateway on a file with the upstreams app and store, which say
// who they are, and the classes (YAML, below "classes:").
func startFile(t testing.TB, app, store, classes string) *reloadable {
	t.Helper()
	r := &reloadable{path: filepath.Join(t.TempDir(), "spillway.yaml")}
	write(t, r.path, fileOf(app, store, classes))
	cfg, err := config.Load(r.path)
	if err != nil {
		t.Fatal(err)
	}
	r.harness = startConfig(t, cfg, func(o *gateway.Options) {
		o.Load = func() (*config.Config, error) { return config.Load(r.path) }
	})
	return r
}

func fileOf(app, store, classes string) string {
	return fmt.Sprintf("version: 1\nreload: { every: 100ms }\nupstreams: { app: { url: %q }, store: { url: %q } }\nclasses:\n%s", app, store, classes)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reload takes another file over.
func (r *reloadable) reload(text string) *gateway.Reloaded {
	r.Helper()
	write(r, r.path, text)
	done, err := r.Reload("test")
	if err != nil {
		r.Fatalf("%v", err)
	}
	return done
}

// says is a service that says its name.
func says(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, name) }
}

// of returns the class of an upstream's gate, removed ones included.
func (r *reloadable) of(upstream, class string) boundary.ClassState {
	for _, s := range r.Gate(upstream).States() {
		if s.Name == class {
			return s
		}
	}
	r.Fatalf("%s knows no class %s", upstream, class)
	return boundary.ClassState{}
}

func TestAReloadTakesTheNewFileOver(t *testing.T) {
	app, store := serviceAt(t, says("app")), serviceAt(t, says("store"))
	r := startFile(t, app, store, "  all: { upstream: app, slots: 4 }\n")
	if got := r.get("/"); got.body != "app" {
		t.Fatalf("answered by %q", got.body)
	}
	done := r.reload(fileOf(app, store, "  b: { match: { path: /b }, upstream: store }\n  all: { upstream: app, slots: 3, deadline: 1s }\n"))
	if done.Result != "applied" || done.Generation != 2 {
		t.Errorf("%+v", done)
	}
	if s := r.of("app", "all"); s.Slots != 3 || s.Tally.Offered != 1 {
		t.Errorf("all has %d slots and %d requests on its account, want 3 and the one from before", s.Slots, s.Tally.Offered)
	}
	if got := r.get("/b"); got.body != "store" {
		t.Errorf("/b was answered by %q", got.body)
	}
	if again, err := r.Reload("test"); err != nil || again.Result != "unchanged" || again.Generation != 2 {
		t.Errorf("the same file again: %+v, %v", again, err)
	}
}

// Whatever is wrong with a file, and however late it shows, what is in force
// stays as it is, all of it, and what is wrong is said on one line.
func TestAFileThatIsWrongChangesNothing(t *testing.T) {
	app, store := serviceAt(t, says("app")), serviceAt(t, says("store"))
	const classes = "  all: { upstream: app, slots: 4 }\n"
	r := startFile(t, app, store, classes)
	before := r.of("app", "all")
	for name, c := range map[string]struct{ text, why string }{
		"not YAML":          {"version: [", "not YAML"},
		"an unknown key":    {fileOf(app, store, "  all: { upstream: app, slts: 3 }\n"), `did you mean "slots"?`},
		"several":           {fileOf(app, store, "  all: { upstream: app, slts: 3, bugdet: 1 }\n"), "(and 1 more)"},
		"nothing":           {"", "file is empty"},
		"a later class":     {fileOf(app, store, "  b: { match: { path: /b }, upstream: app, slots: 1 }\n  all: { upstream: nowhere }\n"), "which is not an upstream"},
		"another address":   {"listen: \":1\"\n" + fileOf(app, store, classes), "needs a restart"},
		"another and right": {"log: { level: debug }\n" + fileOf(app, store, "  all: { upstream: app, slots: 3 }\n"), "log.level: info -> debug needs a restart"},
	} {
		write(t, r.path, c.text)
		done, err := r.Reload("test")
		if err == nil || done.Result != "refused" || !strings.Contains(done.Why, c.why) || strings.Contains(done.Why, "\n") {
			t.Errorf("%s: %+v, %v; want one line with %q", name, done, err, c.why)
		}
	}
	if after := r.of("app", "all"); after != before {
		t.Errorf("all was %+v, is %+v", before, after)
	}
	if got := r.get("/"); got.body != "app" {
		t.Errorf("answered by %q", got.body)
	}
	if body := r.adminGet("/metrics").body; !strings.Contains(body, `spillway_config_reloads_total{result="refused"} 7`) || !strings.Contains(body, "spillway_config_last_reload_successful 0") {
		t.Error("the metrics do not show seven refused reloads")
	}
}

// held is a service that answers each request when it is told to.
func held(t testing.TB, name string) (url string, came chan struct{}, let func()) {
	came, gate := make(chan struct{}, 100), make(chan struct{})
	let = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(let)
	return serviceAt(t, func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-gate
		io.WriteString(w, name)
	}), came, let
}

// inBackground sends requests and returns where their answers come.
func (h *harness) inBackground(path string, n int) <-chan got {
	answers := make(chan got, n)
	for range n {
		go func() {
			g, err := h.try("GET", path, nil)
			if err != nil {
				g.body = err.Error()
			}
			answers <- g
		}()
	}
	return answers
}

func TestALoweredLimitCancelsNothingAndARaisedOneCountsAtOnce(t *testing.T) {
	app, came, let := held(t, "app")
	r := startFile(t, app, app, "  all: { upstream: app, slots: 4, deadline: 20s }\n")
	answers := r.inBackground("/", 6)
	for range 4 {
		<-came
	}
	until(t, "two wait", func() bool { return r.of("app", "all").Waiting == 2 })
	done := r.reload(fileOf(app, app, "  all: { upstream: app, slots: 1, deadline: 20s }\n"))
	if got, want := done.Changes[0].String(), "classes.all.slots: 4 -> 1: a lower limit cancels nothing (4 running, 2 waiting)"; got != want {
		t.Errorf("the diff says %q, want %q", got, want)
	}
	if s := r.of("app", "all"); s.Slots != 1 || s.Tally.Running != 4 || s.Waiting != 2 {
		t.Errorf("%d slots, %d running, %d waiting; want 1, 4 and 2", s.Slots, s.Tally.Running, s.Waiting)
	}
	r.reload(fileOf(app, app, "  all: { upstream: app, slots: 6, deadline: 20s }\n"))
	for range 2 { // those that waited have been started by the reload itself
		<-came
	}
	let()
	for range 6 {
		want(t, <-answers, 200, "served", "primary")
	}
}

// A class that moves to another upstream finishes where it is what has begun
// there, and begins anew where it goes. Removed and added again it is the class
// that it was.
func TestAClassMovesAndComesBack(t *testing.T) {
	app, came, let := held(t, "app")
	store := serviceAt(t, says("store"))
	r := startFile(t, app, store, "  a: { match: { path: /a }, upstream: app, slots: 1, deadline: 20s }\n  rest: { upstream: store }\n")
	answers := r.inBackground("/a", 2)
	<-came
	until(t, "one waits", func() bool { return r.of("app", "a").Waiting == 1 })

	r.reload(fileOf(app, store, "  a: { match: { path: /a }, upstream: store, slots: 1 }\n  rest: { upstream: store }\n"))
	if got := r.get("/a"); got.body != "store" {
		t.Errorf("after the move /a is answered by %q", got.body)
	}
	if s := r.of("app", "a"); s.Waiting != 1 || s.Tally.Running != 1 {
		t.Errorf("what had begun: %d waiting, %d running; want 1 and 1", s.Waiting, s.Tally.Running)
	}
	r.reload(fileOf(app, store, "  rest: { upstream: store }\n"))
	if got := r.get("/a"); got.body != "store" || r.of("store", "rest").Tally.Offered != 1 {
		t.Errorf("without class a, /a is answered by %q and rest has %d on its account", got.body, r.of("store", "rest").Tally.Offered)
	}
	let()
	for range 2 {
		if g := <-answers; g.body != "app" {
			t.Errorf("what had begun at app was answered %d by %q", g.StatusCode, g.body)
		}
	}
	r.reload(fileOf(app, store, "  a: { match: { path: /a }, upstream: app, slots: 1 }\n  rest: { upstream: store }\n"))
	if got := r.get("/a"); got.body != "app" || r.of("app", "a").Tally.Offered != 3 {
		t.Errorf("back again: answered by %q, %d on its account, want the two from before and this one", got.body, r.of("app", "a").Tally.Offered)
	}
}

func TestAnotherURLKeepsTheGateAndWhatRuns(t *testing.T) {
	old, came, let := held(t, "old")
	r := startFile(t, old, old, "  all: { upstream: app, slots: 2, deadline: 20s }\n")
	answers := r.inBackground("/", 1)
	<-came
	now := serviceAt(t, says("new"))
	r.reload(fileOf(now, old, "  all: { upstream: app, slots: 2, deadline: 20s }\n"))
	if got := r.get("/"); got.body != "new" {
		t.Errorf("answered by %q", got.body)
	}
	if s := r.of("app", "all"); s.Tally.Running != 1 || s.Tally.Offered != 2 {
		t.Errorf("%d running, %d offered; want 1 and 2", s.Tally.Running, s.Tally.Offered)
	}
	let()
	if g := <-answers; g.body != "old" {
		t.Errorf("what ran was answered %d by %q", g.StatusCode, g.body)
	}
}

// A thousand configurations, each with another order, other limits, a class that
// goes and comes and one that moves, while callers ask without a pause: all are
// answered by the service.
func TestAThousandReloadsUnderLoadLoseNobody(t *testing.T) {
	app, store := serviceAt(t, says("app")), serviceAt(t, says("store"))
	classes := func(i int) string {
		a := fmt.Sprintf("  a: { match: { path: /a }, upstream: %s, slots: %d, memory: { limit: 8MiB } }\n", []string{"app", "store"}[i/2%2], 1+i%3)
		b := "  b: { match: { path: /b }, upstream: app, slots: 2, tenant: { key: \"header:X-Tenant\", policy: " + []string{"rr", "drr"}[i/3%2] + " } }\n"
		rest := "  rest: { match: { path: \"/*\" }, upstream: store, slots: 2 }\n"
		switch i % 5 {
		case 0:
			return a + rest
		case 1:
			return b + a + rest
		}
		return a + b + rest
	}
	const period = 60 // after which the configurations repeat
	var all []*config.Config
	for i := range period {
		cfg, err := config.Parse("test.yaml", []byte(fileOf(app, store, classes(i))))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cfg)
	}
	r := startFile(t, app, store, classes(1))
	var ended atomic.Bool
	var callers sync.WaitGroup
	var sent, lost atomic.Int64
	for i := range 3 {
		callers.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: soon}
			defer client.CloseIdleConnections()
			for n := 0; !ended.Load(); n++ {
				req, _ := http.NewRequest("GET", r.url+[]string{"/a", "/b", "/c"}[(n+i)%3], nil)
				req.Header.Set("X-Tenant", []string{"x", "y"}[n%2])
				sent.Add(1)
				g, err := read(client.Do(req))
				if err != nil || g.StatusCode != 200 || g.body != "app" && g.body != "store" {
					if lost.Add(1) <= 5 {
						t.Errorf("request %d: %v, %+v", n, err, g)
					}
				}
			}
		})
	}
	reloads := 1000
	if testing.Short() || longWay {
		reloads = 100
	}
	for i := range reloads {
		if _, err := r.Reconfigure(all[i%period], "test"); err != nil {
			t.Fatal(err)
		}
	}
	ended.Store(true)
	callers.Wait()
	if lost.Load() > 0 || sent.Load() == 0 {
		t.Errorf("%d of %d requests were lost", lost.Load(), sent.Load())
	}
	var offered, served int64
	for _, upstream := range []string{"app", "store"} {
		for _, s := range r.Gate(upstream).States() {
			offered += s.Tally.Offered - s.Tally.Answered[reason.Draining] // who came a moment too late was offered again
			served += s.Tally.Answered[reason.Served]
		}
		if err := r.Gate(upstream).Check(); err != nil {
			t.Errorf("%s: %v", upstream, err)
		}
	}
	if offered != sent.Load() || served != sent.Load() {
		t.Errorf("%d requests were sent, %d are on the accounts, %d as served", sent.Load(), offered, served)
	}
}

// However a file is replaced, it is taken over by itself: written in place,
// renamed into place as editors do, behind a link that is turned as Kubernetes
// does; and so is a file that it names. One that is wrong is told of once and
// does no harm.
func TestAChangedFileIsTakenOverByItself(t *testing.T) {
	app := serviceAt(t, says("app"))
	folder := t.TempDir()
	path := filepath.Join(folder, "spillway.yaml")
	text := func(slots int) string {
		return fmt.Sprintf("version: 1\nreload: { every: 100ms }\nupstreams: { app: { url: \"file:url\" } }\nclasses: { all: { slots: %d } }\n", slots)
	}
	volume := func(version string, slots int) string { // as a mounted ConfigMap is laid out
		dir := filepath.Join(folder, version)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "spillway.yaml"), text(slots))
		return dir
	}
	turn := func(version string) {
		link := filepath.Join(folder, "..data_tmp")
		if err := os.Symlink(version, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(folder, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	volume("..v1", 1)
	turn("..v1")
	if err := os.Symlink("..data/spillway.yaml", path); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "url"), app)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) {
		o.Load = func() (*config.Config, error) { return config.Load(path) }
	})
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() { defer close(watched); h.Watch(ctx) }()
	defer func() { cancel(); <-watched }()
	slots := func(n int) func() bool { return func() bool { return h.state("all").Slots == n } }

	volume("..v2", 2)
	turn("..v2")
	until(t, "the link that was turned", slots(2))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, text(3))
	until(t, "the file in the place of the link", slots(3))

	write(t, path+".tmp", text(4))
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
	until(t, "the file renamed into place", slots(4))

	write(t, path, "version: 1\n")
	until(t, "the wrong file is noticed", func() bool {
		return strings.Contains(h.adminGet("/metrics").body, "spillway_config_last_reload_successful 0")
	})
	if !slots(4)() {
		t.Error("a wrong file has changed something")
	}
	write(t, path, text(5))
	until(t, "the file put right", slots(5))

	write(t, filepath.Join(folder, "url"), serviceAt(t, says("other")))
	until(t, "the file that it names", func() bool { return h.get("/").body == "other" })
}

// Whatever a web page can have an operator's browser send is refused, and so is
// what comes from elsewhere while nobody knows who that is.
func TestOnlyAnOperatorReloads(t *testing.T) {
	app := serviceAt(t, says("app"))
	r := startFile(t, app, app, "  all: { upstream: app, slots: 4 }\n")
	write(t, r.path, fileOf(app, app, "  all: { upstream: app, slots: 5 }\n"))
	ask := func(method, path, from string, header ...string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, "http://127.0.0.1:9900"+path, nil)
		req.RemoteAddr = from
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		r.Admin().ServeHTTP(w, req)
		return w
	}
	const here, there = "127.0.0.1:40000", "192.0.2.7:40000"
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a form of a web page":          ask("POST", "/reload", here, "Content-Type", "application/x-www-form-urlencoded"),
		"a link":                        ask("GET", "/reload", here, "Spillway-Operator", "ann"),
		"another machine":               ask("POST", "/reload", there, "Spillway-Operator", "ann"),
		"an IPv4 address in v6 clothes": ask("POST", "/reload", "[::ffff:192.0.2.7]:4", "Spillway-Operator", "ann"),
	} {
		if w.Code != 403 && w.Code != 405 {
			t.Errorf("%s: answered %d: %s", name, w.Code, w.Body)
		}
	}
	if s := r.of("app", "all"); s.Slots != 4 {
		t.Fatalf("%d slots: one of them reloaded", s.Slots)
	}
	dry := ask("POST", "/reload?dry=1", here, "Spillway-Operator", "ann")
	if dry.Code != 200 || !strings.Contains(dry.Body.String(), "classes.all.slots: 4 -> 5") || r.of("app", "all").Slots != 4 {
		t.Errorf("dry: %d, %s", dry.Code, dry.Body)
	}
	w := ask("POST", "/reload", "[::1]:4", "Spillway-Operator", "ann", "Accept", "application/json")
	var doc gateway.Reloaded
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != 200 || doc.Result != "applied" || doc.Changes[0].Path != "classes.all.slots" {
		t.Errorf("%d: %+v, %v", w.Code, doc, err)
	}
	write(t, r.path, "version: 1\n")
	if w := ask("POST", "/reload", here, "Spillway-Operator", "ann"); w.Code != 422 || !strings.HasPrefix(w.Body.String(), "refused: ") {
		t.Errorf("a wrong file: %d, %s", w.Code, w.Body)
	}
}

// What was begun is ended by the configuration in force: none comes after that.
func TestAGatewayThatDrainsDoesNotReload(t *testing.T) {
	app := serviceAt(t, says("app"))
	r := startFile(t, app, app, "  all: { upstream: app, slots: 4 }\n")
	r.stop()
	write(t, r.path, fileOf(app, app, "  all: { upstream: app, slots: 5 }\n"))
	if done, err := r.Reload("test"); err == nil || !strings.Contains(done.Why, "draining") {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestWithoutAFileThereIsNothingToReload(t *testing.T) {
	h := start(t, "  all: {}\n", says("app"))
	if done, err := h.Reload("test"); err == nil || !strings.Contains(done.Why, "without one") {
		t.Errorf("%+v, %v", done, err)
	}
	watched := make(chan struct{})
	go func() { defer close(watched); h.Watch(context.Background()) }()
	select {
	case <-watched:
	case <-time.After(soon):
		t.Error("it watches nothing for ever")
	}
}
