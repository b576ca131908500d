package gateway_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Connections are used again and again while deadlines pass, calls time out and
// callers leave at every stage of an answer, of every kind: each caller gets its own
// answer, whole, or none, and every slot comes back.
func TestNoAnswerReachesAnotherCaller(t *testing.T) {
	for _, cancel := range []string{"on", "off"} {
		t.Run("cancel "+cancel, func(t *testing.T) {
			h := start(t, fmt.Sprintf("  all: { slots: 8, deadline: 40ms, call: { timeout: 6ms }, abandoned: { cancel: %s }, feasible: off }", cancel), motley)
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}}
			defer client.CloseIdleConnections()
			var all sync.WaitGroup
			for worker := range 16 {
				all.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(worker)))
					for n := range 40 {
						patience := soon
						if random.IntN(4) == 0 {
							patience = time.Duration(random.IntN(5000)) * time.Microsecond
						}
						ask(t, client, fmt.Sprintf("%s/%d/%d-%d", h.url, random.IntN(5), worker, n), patience)
					}
				})
			}
			all.Wait()
			until(t, "every slot is free", func() bool { return h.state("all").Used == 0 })
		})
	}
}

// motley answers with its path and filling, as the first digit of the path says.
func motley(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Path + strings.Repeat(".", rand.IntN(5000))
	timer := time.NewTimer(time.Duration(rand.IntN(8000)) * time.Microsecond)
	<-timer.C
	switch r.URL.Path[1] {
	case '0': // with a length
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	case '1': // piece by piece
		for len(text) > 400 {
			io.WriteString(w, text[:400])
			w.(http.Flusher).Flush()
			text = text[400:]
			timer.Reset(time.Millisecond)
			<-timer.C
		}
	case '2': // behind hints
		w.WriteHeader(http.StatusEarlyHints)
		timer.Reset(time.Millisecond)
		<-timer.C
	case '3': // the last of its connection
		w.Header().Set("Connection", "close")
	case '4': // half of it
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
	}
	io.WriteString(w, text)
}

// ask makes a request and checks that an answer, if one comes, is its own.
func ask(t *testing.T, client *http.Client, url string, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Error(err)
		return
	}
	res, err := read(client.Do(req))
	switch {
	case err != nil:
		if ctx.Err() == nil && req.URL.Path[1] != '4' {
			t.Errorf("%s: %v", url, err)
		}
	case res.StatusCode == http.StatusOK:
		if req.URL.Path[1] == '4' || strings.TrimRight(res.body, ".") != req.URL.Path {
			t.Errorf("%s was answered %.60q", req.URL.Path, res.body)
		}
	case res.StatusCode != http.StatusGatewayTimeout && res.StatusCode != http.StatusServiceUnavailable:
		t.Errorf("%s: %d %s", url, res.StatusCode, res.body)
	}
}
