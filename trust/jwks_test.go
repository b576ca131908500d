package trust

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// provider stands for the URL of a key set.
type provider struct {
	fetches atomic.Int64
	answer  atomic.Pointer[func() (int, []byte, error)]
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.fetches.Add(1)
	status, body, err := (*p.answer.Load())()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

func (p *provider) answers(f func() (int, []byte, error)) { p.answer.Store(&f) }

func (p *provider) good() {
	p.answers(func() (int, []byte, error) { return 200, theIssuer.set(), nil })
}

// remote runs an authority whose keys are behind a URL.
func remote(t *testing.T, p *provider, log io.Writer, f func(a *Authority)) {
	synctest.Test(t, func(t *testing.T) {
		cfg := tokensConfig(t)
		cfg.JWKS, cfg.Refresh = "https://user:hunter2@id.example/jwks?token=hunter2", 5*time.Minute
		a, err := New(Config{Tokens: cfg})
		if err != nil {
			t.Fatal(err)
		}
		a.now = func() time.Time { return noon }
		a.tokens.source.client.Transport = p
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { a.Run(ctx, slog.New(slog.NewTextHandler(log, nil))); close(ended) }()
		synctest.Wait()
		f(a)
		cancel()
		<-ended
	})
}

func TestKeysAreFetchedInTheBackgroundAndOldOnesStayInForce(t *testing.T) {
	p := new(provider)
	p.good()
	var log strings.Builder
	remote(t, p, &log, func(a *Authority) {
		token := request("Authorization", "Bearer "+theIssuer.sign(t, jose.RS256, "r", theIssuer.rsa, claims()))
		if id := a.Identify(token, false); !id.Verified() || p.fetches.Load() != 1 {
			t.Fatalf("%+v after %d fetches", id, p.fetches.Load())
		}
		for _, broken := range []func() (int, []byte, error){
			func() (int, []byte, error) { return 0, nil, errors.New("connection refused") },
			func() (int, []byte, error) { return 500, nil, nil },
			func() (int, []byte, error) { return 200, []byte(`{"keys":[]}`), nil },
			func() (int, []byte, error) { return 200, bytes.Repeat([]byte{' '}, fileMax+1), nil },
		} {
			p.answers(broken)
			time.Sleep(6 * time.Minute)
			if id := a.Identify(token, false); !id.Verified() {
				t.Errorf("the URL is down, and what was fetched is forgotten: %+v", id)
			}
		}
		heir, err := New(Config{Tokens: &a.tokens.Tokens})
		if err != nil {
			t.Fatal(err)
		}
		heir.now = a.now
		heir.Inherit(a)
		if id := heir.Identify(token, false); !id.Verified() || heir.Counts != a.Counts {
			t.Errorf("after a reload of the configuration, while the URL is down: %+v", id)
		}
		down := p.fetches.Load()
		time.Sleep(time.Hour)
		if n := p.fetches.Load() - down; n < 10 || n > 14 {
			t.Errorf("%d fetches in an hour of failures; once they last, every 5 minutes", n)
		}
		p.good()
		time.Sleep(6 * time.Minute)
	})
	if s := log.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, "id.example/jwks") || strings.Count(s, "again") != 1 {
		t.Errorf("log:\n%s", s)
	}
}

func TestATokenIsAnonymousUntilThereAreKeys(t *testing.T) {
	p := new(provider)
	p.answers(func() (int, []byte, error) { return 503, nil, nil })
	remote(t, p, io.Discard, func(a *Authority) {
		token := request("Authorization", "Bearer "+theIssuer.sign(t, jose.RS256, "r", theIssuer.rsa, claims()))
		if id := a.Identify(token, false); id.Verified() || id.Failed != Unavailable {
			t.Errorf("%+v", id)
		}
		p.good()
		time.Sleep(fetchPause)
		synctest.Wait()
		if id := a.Identify(token, false); !id.Verified() {
			t.Errorf("%v later: %+v", fetchPause, id)
		}
	})
}

// A token that names an unknown key makes the set be read soon, and however
// many such tokens come they make it be read no more often than that.
func TestAnUnknownKeyAsksForTheSetAndNobodyCanAskOften(t *testing.T) {
	p := new(provider)
	p.answers(func() (int, []byte, error) {
		return 200, []byte(`{"keys":[` + string(must(jose.JSONWebKey{Key: theIssuer.ed.Public(), KeyID: "d"}.MarshalJSON())) + `]}`), nil
	})
	remote(t, p, io.Discard, func(a *Authority) {
		token := request("Authorization", "Bearer "+theIssuer.sign(t, jose.RS256, "r", theIssuer.rsa, claims()))
		p.good() // the provider begins to use another key
		started := time.Now()
		for range 1000 {
			if id := a.Identify(token, false); id.Verified() || p.fetches.Load() != 1 {
				t.Fatal("a fetch on the way of a request")
			}
		}
		time.Sleep(fetchSoonest)
		synctest.Wait()
		if id := a.Identify(token, false); !id.Verified() {
			t.Errorf("%v later: %+v", time.Since(started), id)
		}
		before := p.fetches.Load()
		forged := request("Authorization", "Bearer "+theIssuer.sign(t, jose.RS256, "never", theIssuer.rsa, claims()))
		for range 600 {
			a.Identify(forged, false)
			time.Sleep(100 * time.Millisecond)
		}
		if n := p.fetches.Load() - before; n > 3 {
			t.Errorf("%d fetches in a minute of forged tokens", n)
		}
	})
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestRedirectsLeadNowhereElse(t *testing.T) {
	s := newKeySource("https://id.example/jwks", time.Hour)
	at := func(url string) *http.Request { r, _ := http.NewRequest("GET", url, nil); return r }
	if s.client.CheckRedirect(at("http://id.example/jwks"), []*http.Request{at(s.at)}) == nil {
		t.Error("followed to a place that anybody on the way can speak for")
	}
	if err := s.client.CheckRedirect(at("https://id.example/2"), []*http.Request{at(s.at)}); err != nil {
		t.Errorf("not followed to another page of the same kind: %v", err)
	}
}

func TestAChangedKeyFileIsReadWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, _ := keyFile(t, "acme")
		a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { a.Run(ctx, slog.New(slog.DiscardHandler)); close(ended) }()
		f, _ := LoadKeys(path)
		key, e := NewKey("new", "", "", noon, nil)
		f.Keys = append(f.Keys, e)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(keysEvery)
		synctest.Wait()
		if id := a.Identify(request("X-Api-Key", key), false); id.Name != "new" {
			t.Errorf("%+v", id)
		}
		os.Remove(path) // is told in the log, once, and changes nothing
		time.Sleep(3 * keysEvery)
		cancel()
		<-ended
	})
}
