package live

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/workload"
)

// scorerPart has slots and one line.
type scorerPart struct {
	parts.Trouble
	slots      chan *parts.Alarm // the idle ones; who finds none waits in the line of the channel
	service    time.Duration
	conditions workload.Conditions

	mu    sync.Mutex
	clock parts.Clock
	held  int // slots
	told  scored
}

// scored is what the scorer tells of a round.
type scored struct {
	Served   int64 // keystrokes that held a slot to their end
	Failed   int64 // that it failed, as its conditions have it
	MostHeld int   // slots at once
}

// Open implements parts.Part.
func (p *scorerPart) Open(s spec, _ string) (string, error) {
	var err error
	if p.conditions, err = workload.ParseConditions(s.Conditions); err != nil {
		return "", err
	}
	p.service, p.slots, p.clock = s.Service, make(chan *parts.Alarm, s.Slots), parts.Clock{Start: time.Now()}
	for range s.Slots {
		a, err := parts.NewAlarm()
		if err != nil {
			return "", err
		}
		p.slots <- a
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /strip", p.score)
	mux.HandleFunc("GET /listed", func(w http.ResponseWriter, _ *http.Request) { write(w, []byte(listed())) })
	go func() { p.Fail((&http.Server{Handler: mux}).Serve(l)) }()
	return l.Addr().String(), nil
}

// Begin implements parts.Part.
func (p *scorerPart) Begin(c parts.Clock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = c
}

// End does not wait for who still holds a slot: nobody listens.
func (p *scorerPart) End() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told
}

var errQuestion = errors.New("no keystroke of this lab")

// score answers a keystroke when it has held a slot. It does not look whether its caller is
// there still.
func (p *scorerPart) score(w http.ResponseWriter, r *http.Request) {
	question, err := strconv.ParseUint(r.URL.Query().Get("q"), 10, 64)
	number, also := strconv.ParseInt(r.Header.Get("X-Number"), 10, 64)
	if err != nil || also != nil {
		http.Error(w, errQuestion.Error(), http.StatusBadRequest)
		return
	}
	if !p.work() {
		http.Error(w, "the scorer is down", http.StatusInternalServerError)
		return
	}
	body, _ := json.Marshal(answer{Question: question, Number: number}) // has no way to fail
	write(w, body)
}

// work takes a slot, and gives it back when the work of a keystroke is done; in an outage
// it fails, and reports false.
func (p *scorerPart) work() bool {
	if p.conditions.At(p.now()).Out() {
		p.count(func(t *scored) { t.Failed++ })
		return false
	}
	slot := <-p.slots
	p.count(func(t *scored) {
		p.held++
		t.MostHeld = max(t.MostHeld, p.held)
	})
	takes, done := p.takesFrom(p.now())
	if err := slot.Sleep(takes); err != nil {
		p.Fail(err)
	}
	p.count(func(t *scored) {
		p.held--
		if done {
			t.Served++
		} else {
			t.Failed++
		}
	})
	p.slots <- slot
	return done
}

// takesFrom is how long work that is begun then holds its slot, and whether it gets done:
// an outage ends it.
func (p *scorerPart) takesFrom(begun time.Duration) (time.Duration, bool) {
	end := p.conditions.Finish(begun, p.service)
	for at := begun; ; {
		now := p.conditions.At(at)
		switch {
		case now.Out():
			return at - begun, false
		case now.Until == 0 || now.Until >= end:
			return end - begun, true
		}
		at = now.Until
	}
}

// now is how far the round is.
func (p *scorerPart) now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(max(p.clock.Now(), 0))
}

func (p *scorerPart) count(f func(*scored)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.told)
}

func write(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // who asked may have gone
}
