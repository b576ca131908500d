package rungs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// header reads lines of "Name: value".
func header(lines string) http.Header {
	h := make(http.Header)
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

func ask(method, target, lines string) *Ask {
	r := httptest.NewRequest(method, target, nil)
	for name, values := range header(lines) {
		r.Header[name] = values
	}
	return &Ask{Request: r}
}

// keep has a cache see an answer with a body, and reports whether it kept it.
func keep(c *Cache, a *Ask, status int, h http.Header, body string) bool {
	k := c.Begin(a, status, h, int64(len(body)), time.Now())
	k.Write([]byte(body))
	k.Done()
	_, _, ok := c.lookup(a)
	return ok
}

// RFC 9111 section 3, line by line, with a minute of freshness and an hour beyond it
// where answers name none.
func TestWhatIsKept(t *testing.T) {
	for _, c := range []struct {
		what          string
		method, asked string
		status        int
		answer        string
		kept, over    bool // by default, and with override
	}{
		{"a plain answer", "GET", "", 200, "", true, true},
		{"one that names its freshness", "GET", "", 200, "Cache-Control: max-age=10", true, true},
		{"no-store", "GET", "", 200, "Cache-Control: max-age=10, no-store", false, false},
		{"NO-STORE", "GET", "", 200, "Cache-Control: NO-STORE", false, false},
		{"no-store in a second line", "GET", "", 200, "Cache-Control: public\nCache-Control: no-store", false, false},
		{"private", "GET", "", 200, "Cache-Control: private", false, false},
		{"private for a field", "GET", "", 200, `Cache-Control: private="Set-Cookie, X"`, false, false},
		{"no-cache", "GET", "", 200, "Cache-Control: no-cache", false, true},
		{"a cookie is set", "GET", "", 200, "Set-Cookie: sid=1\nCache-Control: public, max-age=60", false, false},
		{"the caller wants nothing kept", "GET", "Cache-Control: no-store", 200, "", false, false},
		{"a reload", "GET", "Cache-Control: no-cache", 200, "", true, true},
		{"POST", "POST", "", 200, "Cache-Control: max-age=60", false, false},
		{"HEAD has no body to keep", "HEAD", "", 200, "", false, false},
		{"not found", "GET", "", 404, "", true, true},
		{"an error is what is replaced", "GET", "", 500, "Cache-Control: max-age=60", false, false},
		{"not built", "GET", "", 501, "Cache-Control: max-age=60", false, false},
		{"a part", "GET", "Range: bytes=0-1", 206, "Content-Range: bytes 0-1/9", false, false},
		{"not modified", "GET", `If-None-Match: "a"`, 304, "", false, false},
		{"a redirect for now", "GET", "", 302, "", false, true},
		{"a redirect for a while", "GET", "", 302, "Cache-Control: max-age=60", true, true},
		{"a redirect for good", "GET", "", 301, "", true, true},
		{"an unknown status", "GET", "", 299, "Cache-Control: max-age=60", false, false},
		{"with credentials", "GET", "Authorization: Basic YQ==", 200, "", false, true},
		{"with credentials, and public", "GET", "Authorization: Basic YQ==", 200, "Cache-Control: public", true, true},
		{"with credentials, and s-maxage", "GET", "Authorization: Basic YQ==", 200, "Cache-Control: s-maxage=9", true, true},
		{"with credentials, and must-revalidate", "GET", "Authorization: Basic YQ==", 200, "Cache-Control: must-revalidate", true, true},
		{"stale at once, and never again", "GET", "", 200, "Cache-Control: max-age=0, must-revalidate", false, true},
		{"stale at once", "GET", "", 200, "Cache-Control: max-age=0", true, true},
		{"expired, and not to be used after", "GET", "", 200, "Expires: 0\nCache-Control: stale-if-error=0", false, true},
		{"Vary: *", "GET", "", 200, "Vary: Accept, *", false, false},
		{"Vary by more headers than anybody means", "GET", "", 200, "Vary: Sec-A, Sec-B, Sec-C, Sec-D, Sec-E, Sec-F, Sec-G, Sec-H, Sec-I", false, false},
		{"a huge header", "GET", "", 200, "X: " + strings.Repeat("x", headerMost), false, false},
		{"a stream of events", "GET", "", 200, "Content-Type: Text/Event-Stream; x", false, false},
		{"a trailer is announced", "GET", "", 200, "Trailer: Grpc-Status", false, false},
	} {
		for _, override := range []bool{false, true} {
			cache := NewCache(CacheConfig{TTL: time.Minute, StaleFor: time.Hour, Override: override}, false)
			want := c.kept
			if override {
				want = c.over
			}
			if got := keep(cache, ask(c.method, "http://a/", c.asked), c.status, header(c.answer), "body"); got != want {
				t.Errorf("%s: kept %v, want %v (override %v)", c.what, got, want, override)
			}
		}
	}
}

// RFC 9111 section 4.2 and RFC 5861 section 4: how long an answer is given, with a
// minute of freshness and an hour beyond where it says nothing. The clock of the
// bubble begins at midnight of 2000-01-01, UTC.
func TestHowLongAnAnswerIsGiven(t *testing.T) {
	const now, later, before = "Sat, 01 Jan 2000 00:00:00 GMT", "Sat, 01 Jan 2000 00:01:40 GMT", "Fri, 31 Dec 1999 23:59:30 GMT"
	for _, c := range []struct {
		what, answer string
		fresh, until time.Duration // since it came; less than 0: how stale it was then
	}{
		{"it says nothing", "", time.Minute, time.Hour + time.Minute},
		{"max-age", "Cache-Control: max-age=10", 10 * time.Second, time.Hour + 10*time.Second},
		{"s-maxage counts before max-age, and forbids use after", "Cache-Control: max-age=10, s-maxage=20", 20 * time.Second, 20 * time.Second},
		{"max-age counts before Expires", "Cache-Control: max-age=10\nExpires: " + later, 10 * time.Second, time.Hour + 10*time.Second},
		{"Expires", "Date: " + now + "\nExpires: " + later, 100 * time.Second, time.Hour + 100*time.Second},
		{"the shorter of two", "Cache-Control: max-age=30, max-age=10", 10 * time.Second, time.Hour + 10*time.Second},
		{"a time that is none is none", "Cache-Control: max-age=1.5", 0, time.Hour},
		{"stale-if-error", "Cache-Control: max-age=10, stale-if-error=20", 10 * time.Second, 30 * time.Second},
		{"must-revalidate", "Cache-Control: max-age=10, must-revalidate, stale-if-error=20", 10 * time.Second, 10 * time.Second},
		{"proxy-revalidate", "Cache-Control: max-age=10, proxy-revalidate", 10 * time.Second, 10 * time.Second},
		{"it was old when it came, by Age", "Age: 4\nCache-Control: max-age=10", 6 * time.Second, time.Hour + 6*time.Second},
		{"it was old when it came, by Date", "Date: " + before + "\nCache-Control: max-age=40", 10 * time.Second, time.Hour + 10*time.Second},
		{"the greater of both", "Age: 35\nDate: " + before + "\nCache-Control: max-age=40", 5 * time.Second, time.Hour + 5*time.Second},
		{"an Age that is none", "Age: -4\nCache-Control: max-age=10", 10 * time.Second, time.Hour + 10*time.Second},
		{"a time beyond all bounds", "Cache-Control: max-age=99999999999999999999, stale-if-error=0", secondsMost * time.Second, secondsMost * time.Second},
		{"quoted", `Cache-Control: ext="a, max-age=1", max-age="10"`, 10 * time.Second, time.Hour + 10*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			cache := NewCache(CacheConfig{TTL: time.Minute, StaleFor: time.Hour}, false)
			l, err := New(order(t, ladder.Cache), Rung{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			a := ask("GET", "http://a/", "")
			keep(cache, a, 200, header(c.answer), "body")
			at := func(d time.Duration) string {
				time.Sleep(d)
				s, _, ok := l.Find(a, reason.Failed)
				if !ok {
					return "none"
				}
				status := s.status(0)
				return status[:strings.Index(status, ";")] + status[strings.Index(status, "fwd="):strings.Index(status, "; ttl")]
			}
			if got := at(c.fresh); got != "spillwayfwd=bypass" {
				t.Errorf("%s: at %v %s", c.what, c.fresh, got)
			}
			if c.until > c.fresh {
				if got := at(time.Nanosecond); got != "spillwayfwd=stale" {
					t.Errorf("%s: just after %v %s", c.what, c.fresh, got)
				}
				if got := at(c.until - c.fresh - time.Nanosecond); got != "spillwayfwd=stale" {
					t.Errorf("%s: at %v %s", c.what, c.until, got)
				}
			}
			if got := at(time.Nanosecond); got != "none" {
				t.Errorf("%s: just after %v %s", c.what, c.until, got)
			}
		})
	}
}

// What Vary names and no key holds tells answers apart.
func TestVary(t *testing.T) {
	cache := NewCache(CacheConfig{TTL: time.Minute}, false)
	one, two := ask("GET", "http://a/", "User-Agent: one"), ask("GET", "http://a/", "User-Agent: two")
	h := header("Vary: user-agent, Accept-Encoding")
	if !keep(cache, one, 200, h, "for one") || !keep(cache, two, 200, h, "for two") {
		t.Fatal("not kept")
	}
	for _, a := range []*Ask{one, two} {
		if s, _, _ := cache.lookup(a); string(s.body) != "for "+a.UserAgent() {
			t.Errorf("%s is given what is %q", a.UserAgent(), s.body)
		}
	}
	if _, _, ok := cache.lookup(ask("GET", "http://a/", "User-Agent: three")); ok {
		t.Error("a third is given one of theirs")
	}
	if _, _, ok := cache.lookup(ask("GET", "http://a/", "User-Agent: one\nAccept-Encoding: gzip")); ok {
		t.Error("what is not compressed is given to who asks for gzip")
	}
}

// No two requests of different meaning share a key, whatever a caller puts where.
func TestKeysAreApart(t *testing.T) {
	c := CacheConfig{Ignore: []string{"X-Importance"}}
	base := func() *Ask { a := ask("GET", "http://h/p?q", "A: 1\nB: 2"); a.Partition = "t"; return a }
	key := c.key(base())
	for what, change := range map[string]func(*Ask){
		"host":             func(a *Ask) { a.Host = "i" },
		"path":             func(a *Ask) { a.URL.Path = "/r" },
		"query":            func(a *Ask) { a.URL.RawQuery = "q=" },
		"partition":        func(a *Ask) { a.Partition = "u" },
		"scheme":           func(a *Ask) { a.Secure = true },
		"value":            func(a *Ask) { a.Header.Set("A", "2") },
		"a header twice":   func(a *Ask) { a.Header.Add("A", "1") },
		"a further header": func(a *Ask) { a.Header.Set("C", "") },
		"moved text":       func(a *Ask) { a.Header = header("A: 1B\nB: 2") },
		"joined values":    func(a *Ask) { a.Header = http.Header{"A": {"1\x00B\x002"}} },
		"path in the host": func(a *Ask) { a.Host, a.URL.Path = "h/p", "" },
	} {
		a := base()
		if change(a); c.key(a) == key {
			t.Errorf("%s makes no difference", what)
		}
	}
	for what, change := range map[string]func(*Ask){
		"host in capitals": func(a *Ask) { a.Host = "H" },
		"HEAD":             func(a *Ask) { a.Method = "HEAD" },
		"tracing":          func(a *Ask) { a.Header.Set("Traceparent", "00-1") },
		"reload":           func(a *Ask) { a.Header.Set("Cache-Control", "no-cache") },
		"ignored":          func(a *Ask) { a.Header.Set("X-Importance", "user") },
	} {
		a := base()
		if change(a); c.key(a) != key {
			t.Errorf("%s makes a difference", what)
		}
	}
}

// A flood of large answers, sized or not, broken off or whole, leaves nothing behind
// but what the limits allow.
func TestCopiesAreBounded(t *testing.T) {
	c := NewCache(CacheConfig{TTL: time.Minute, MaxBody: 1 << 16, Memory: 1 << 20}, false)
	var open []*Copy
	piece := make([]byte, 1000)
	for i := range 200 {
		a := ask("GET", "http://a/"+strings.Repeat("x", i), "")
		length := int64(-1)
		if i%2 == 0 {
			length = 60_000
		}
		k := c.Begin(a, 200, http.Header{}, length, time.Now())
		for range 60 {
			k.Write(piece)
		}
		open = append(open, k)
		if held := c.copying.Load(); held > 1<<20 {
			t.Fatalf("unfinished copies hold %d", held)
		}
	}
	for i, k := range open {
		if i%3 == 0 {
			k.Drop()
		}
		k.Done()
	}
	if held, s := c.copying.Load(), c.Stats(); held != 0 || s.Bytes > 1<<20 || s.Entries == 0 {
		t.Errorf("%d bytes are still held by copies, %+v", held, s)
	}
}

func TestABodyOfAnotherLengthIsNotKept(t *testing.T) {
	c := NewCache(CacheConfig{TTL: time.Minute}, false)
	a := ask("GET", "http://a/", "")
	for length, body := range map[int64]string{10: "short", 2: "longer"} {
		k := c.Begin(a, 200, http.Header{}, length, time.Now())
		k.Write([]byte(body))
		k.Done()
		if _, _, ok := c.lookup(a); ok {
			t.Errorf("%q of %d bytes is kept", body, length)
		}
	}
}

func order(t *testing.T, names ...string) ladder.Ladder {
	t.Helper()
	var rungs []ladder.Rung
	for _, name := range names {
		rungs = append(rungs, ladder.Rung{Name: name})
	}
	l, err := ladder.New(rungs...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWhoSpeaksAnotherProtocolIsGivenNone(t *testing.T) {
	l, err := New(order(t, ladder.Static), Rung{Static: &Static{Body: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	grpc := ask("POST", "http://a/", "Content-Type: application/grpc+proto")
	grpc.ProtoMajor = 2
	for _, a := range []*Ask{grpc, ask("GET", "http://a/", "Upgrade: websocket")} {
		if _, _, ok := l.Find(a, reason.QueueFull); ok {
			t.Errorf("%v is given a fixed answer", a.Header)
		}
	}
	if _, _, ok := l.Find(ask("GET", "http://a/", ""), reason.RateLimited); ok {
		t.Error("whoever asks too often is given one")
	}
}

func FuzzCacheControl(f *testing.F) {
	for _, s := range []string{"", "max-age=60, no-store", `private="a, b", s-maxage="5"`, `x="\"`, "max-age=99999999999999999999", "=,=,\"", "no-cache\t,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := parseCacheControl([]string{s})
		for _, v := range []time.Duration{d.maxAge, d.sharedMaxAge, d.staleIfError} {
			if v < 0 || v > secondsMost*time.Second {
				t.Fatalf("%q: %v", s, v)
			}
		}
		// Nothing that is added takes away from what is forbidden.
		if again := parseCacheControl([]string{s, "no-store, private"}); !again.noStore || !again.private {
			t.Fatalf("%q hides what comes in the next line", s)
		}
		if plain := !strings.ContainsAny(s, `",=\`); plain && strings.EqualFold(blank(s), "no-store") != d.noStore {
			t.Fatalf("%q: %+v", s, d)
		}
	})
}

func FuzzVary(f *testing.F) {
	for _, s := range []string{"", "*", "Accept, User-Agent", ",,,", "a,*", strings.Repeat("Sec-A,", 100)} {
		f.Add(s)
	}
	c := CacheConfig{}
	f.Fuzz(func(t *testing.T, s string) {
		names, ok := c.varies(http.Header{"Vary": {s}})
		if len(names) > varyMost {
			t.Fatalf("%q: %d names", s, len(names))
		}
		for part := range strings.SplitSeq(s, ",") {
			if ok && blank(part) == "*" {
				t.Fatalf("%q is taken", s)
			}
		}
	})
}

// A file is input: what is decoded would be encoded the same, or is refused.
func FuzzStored(f *testing.F) {
	good, _ := storedCodec{}.Append(nil, &stored{status: 200, header: header("A: b"), body: []byte("x\ny")})
	f.Add(good)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"varies":["User-Agent"]}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := storedCodec{}.Decode(b)
		if err != nil {
			return
		}
		again, err := storedCodec{}.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = (storedCodec{}).Decode(again); err != nil || s.age < 0 || s.fresh < 0 || len(s.varies) > varyMost {
			t.Fatalf("%q: %v", again, err)
		}
	})
}
