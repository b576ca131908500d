package gateway_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// asked is one request with a key, and told what it was answered.
type asked struct{ key, body string }

type told struct {
	status int
	text   string // of an answer
}

// keys is what idempotency keys promise, one key at a time: its state is which body it
// stands for and what that was answered. Whoever is told 409 learns that somebody is
// there with the same body, and nothing more.
var keys = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(asked).key
			by[key] = append(by[key], o)
		}
		for _, part := range by {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return [2]string{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.([2]string), input.(asked), output.(told)
		switch {
		case out.status == http.StatusOK && s[0] == "": // it is the one that is done
			return true, [2]string{in.body, out.text}
		case out.status == http.StatusOK:
			return s == [2]string{in.body, out.text}, s
		case out.status == http.StatusUnprocessableEntity:
			return s[0] != "" && s[0] != in.body, s
		}
		return false, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
}

// Many callers bring few keys with two bodies each at the same time, and come again as
// long as they are told that the first is under way: what all of them were told can have
// happened one after the other, and each key was done once.
func TestKeysAreLinearizable(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]int{}
	h := keeping(t, "  all: { slots: 8, keys: on }", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		calls[key]++
		n := calls[key]
		mu.Unlock()
		fmt.Fprintf(w, "%s %s %d", key, body, n)
	})
	const callers, each, keysOf = 12, 15, 20
	begun := time.Now()
	var history []porcupine.Operation
	var all sync.WaitGroup
	for who := range callers {
		all.Go(func() {
			luck := rand.New(rand.NewPCG(1, uint64(who)))
			for range each {
				in := asked{fmt.Sprint("key", luck.IntN(keysOf)), fmt.Sprint("body", luck.IntN(2))}
				from := time.Since(begun)
				g := h.send("POST", "/", strings.NewReader(in.body), "Idempotency-Key", in.key)
				for g.StatusCode == http.StatusConflict {
					g = h.send("POST", "/", strings.NewReader(in.body), "Idempotency-Key", in.key)
				}
				out := told{status: g.StatusCode}
				if g.StatusCode == http.StatusOK {
					out.text = g.body
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: who, Input: in, Call: int64(from), Output: out, Return: int64(time.Since(begun))})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if got := porcupine.CheckOperationsTimeout(keys, history, time.Minute); got != porcupine.Ok {
		t.Errorf("%v: what callers were told cannot have happened in any order", got)
	}
	for key, n := range calls {
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	// The model can say no.
	wrong := append(history[:0:0], history...)
	for i, o := range wrong {
		if out := o.Output.(told); out.status == http.StatusOK {
			wrong[i].Output = told{http.StatusOK, out.text + " again"}
			wrong = append(wrong, o)
			break
		}
	}
	if got := porcupine.CheckOperationsTimeout(keys, wrong, time.Minute); got != porcupine.Illegal {
		t.Errorf("a key that was answered two ways is %v", got)
	}
}
