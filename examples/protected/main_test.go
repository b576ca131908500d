package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
)

// A hundred requests at once: those who can be served inside the budget are, and
// the others are told so at once, with the instant at which to come back. Both
// in virtual time, so that the figures are exact.
func TestProtected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := protected(http.HandlerFunc(hello))
		var mu sync.Mutex
		got := map[int]int{}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
				resp := w.Result()
				body, _ := io.ReadAll(resp.Body)
				switch resp.StatusCode {
				case 200:
					if string(body) != "hello\n" {
						t.Errorf("answer %q", body)
					}
				case 503:
					if resp.Header.Get("Retry-After") == "" || resp.Header.Get("Spillway-Reason") != "queue_full" {
						t.Errorf("refusal %v", resp.Header)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				got[resp.StatusCode]++
			})
		}
		all.Wait()
		// Four slots, and a wait of 200 ms at 40 a second: eight in the room.
		if got[200] != 12 || got[503] != 88 {
			t.Errorf("answers by status: %v; want 12 times 200 and 88 times 503", got)
		}
	})
}
