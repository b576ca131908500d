package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// writerFile tells the test binary that it is the process that is to be killed.
const writerFile = "SPILLWAY_TEST_LEDGER"

// slotsOfAll is how many calls may run at once.
const slotsOfAll = 7

// writer reserves, starts and settles calls for ever, from many hands, and says a
// line after each thing that it was told has happened.
func writer(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	owner := strconv.Itoa(os.Getpid())
	l, err := ledger.Open(context.Background(), s, owner)
	if err != nil {
		return err
	}
	if _, _, err := l.Orphan(context.Background(), func(o string) bool { return o != owner }, "killed"); err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(id string, state quota.State) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(id, state)
	}
	pool := ledger.Ref{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: slotsOfAll}}
	day := ledger.Ref{Name: "tokens", Limit: quota.Limit{Unit: quota.Tokens, Most: quota.MostMax, Refill: 1, Every: time.Hour, Refund: true}}
	for hand := range 32 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%s-%d-%d", owner, hand, i)
				g, err := l.Reserve(context.Background(), ledger.Ask{ID: id, Budgets: []ledger.Ref{pool, day}, Amounts: quota.Amounts{quota.Concurrent: 1, quota.Tokens: 10}})
				if err != nil {
					panic(err)
				}
				if !g.OK() {
					continue
				}
				say(id, quota.Reserved)
				if err := l.Start(context.Background(), id, 0); err != nil {
					panic(err)
				}
				say(id, quota.Started)
				if err := l.Settle(context.Background(), id, 0, quota.Amounts{quota.Tokens: 3}); err != nil {
					panic(err)
				}
				say(id, quota.Settled)
			}
		}()
	}
	select {}
}

// The process is killed at a random instant, again and again. Whatever it was told
// is in the file; nothing is free that may run; the counters are the sum of the
// calls.
func TestKilled(t *testing.T) {
	if path := os.Getenv(writerFile); path != "" {
		fmt.Println("ended:", writer(path))
		os.Exit(1)
	}
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("SPILLWAY_KILLS")); err == nil {
		kills = n
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	told := 0
	for range kills {
		said := killed(t, path)
		told += len(said)
		holds(t, path, said)
		if t.Failed() {
			return
		}
	}
	if told == 0 {
		t.Error("no process lived long enough to be told anything")
	}
	t.Logf("%d kills, %d calls told of", kills, told)
}

// killed runs a writer and kills it after some lines; it returns the last that it
// was told of each call.
func killed(t *testing.T, path string) map[string]quota.State {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), writerFile+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	names := map[string]quota.State{}
	for s := quota.Reserved; s <= quota.Released; s++ {
		names[s.String()] = s
	}
	said := map[string]quota.State{}
	lines := bufio.NewScanner(out)
	for n, most := 0, 1+rand.IntN(300); lines.Scan(); n++ {
		id, state, _ := strings.Cut(lines.Text(), " ")
		s, is := names[state]
		if !is {
			t.Errorf("the writer says %q", lines.Text())
		}
		said[id] = max(said[id], s)
		if n == most {
			cmd.Process.Kill() // and read what it had said before
		}
	}
	cmd.Wait()
	return said
}

// holds opens the file again and looks for whatever was told.
func holds(t *testing.T, path string, said map[string]quota.State) {
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "judge") // audits
	if err != nil {
		t.Fatal(err, s.Close())
	}
	defer l.Close()
	for id, want := range said {
		c, there, err := l.Find(context.Background(), id, 0)
		if err != nil || !there || c.State < want {
			t.Errorf("%s was told to be %v; there %v, %v, %v", id, want, there, c.State, err)
		}
	}
	open := 0
	if err := s.View(context.Background(), func(r ledger.Rows) error {
		return r.Open(func(ledger.Call) error { open++; return nil })
	}); err != nil || open > slotsOfAll {
		t.Errorf("%d calls hold %d slots, %v", open, slotsOfAll, err)
	}
	// What it had started is unknown now; to go on, somebody brings evidence.
	if _, _, err := l.Orphan(context.Background(), func(o string) bool { return o != "judge" }, "killed"); err != nil {
		t.Error(err)
	}
	var unknown []string
	if err := s.View(context.Background(), func(r ledger.Rows) error {
		return r.Open(func(c ledger.Call) error { unknown = append(unknown, c.ID); return nil })
	}); err != nil {
		t.Error(err)
	}
	for _, id := range unknown {
		if err := l.Reconcile(context.Background(), id, 0, ledger.Known{Evidence: "the test has seen it end"}); err != nil {
			t.Error(err)
		}
	}
}
