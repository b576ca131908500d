package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/sqlite"
	"github.com/spillway-dev/spillway/policy/quota"
)

// counting is a provider that knows how many calls it has met, and how many at once.
type counting struct{ met, now, most atomic.Int64 }

// ServeHTTP takes a few milliseconds, whether or not anybody still listens.
func (p *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.met.Add(1)
	n := p.now.Add(1)
	for m := p.most.Load(); n > m && !p.most.CompareAndSwap(m, n); m = p.most.Load() {
	}
	<-time.After(time.Duration(1+rand.IntN(8)) * time.Millisecond)
	p.now.Add(-1)
}

// The gateway is killed at random, again and again, under load and with a quota of four
// calls at once. Whatever the provider has met is in the ledger; what was started and not
// settled is unknown, what was only reserved is released; the counters are the sum of the
// rows, and the provider never has more than four.
func TestAGatewayUnderQuotaIsKilled(t *testing.T) {
	if longWay {
		return // the other process does not take it
	}
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("SPILLWAY_KILLS")); err == nil {
		kills = n
	}
	p := new(counting)
	dir := t.TempDir()
	file, path := filepath.Join(dir, "test.yaml"), filepath.Join(dir, "ledger.db")
	text := fmt.Sprintf(`version: 1
upstreams: { app: { url: %q } }
ledger: { url: "sqlite:%s" }
quotas: { provider: { concurrent: 4, requests: { per_second: 100000 } } }
classes:
  all: { slots: 8, quota: provider, deadline: 5s }
`, serviceAt(t, p.ServeHTTP), path)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown, released := 0, 0
	for range kills {
		liveUnderQuota(t, file)
		for deadline := time.Now().Add(soon); p.now.Load() > 0 && time.Now().Before(deadline); {
			<-time.After(time.Millisecond)
		}
		r, u := afterwards(t, path, p.met.Load())
		released, unknown = released+r, unknown+u
	}
	if p.most.Load() > 4 {
		t.Errorf("the provider had %d calls at once", p.most.Load())
	}
	t.Logf("%d kills: the provider met %d calls, at most %d at once; %d unknown, %d released", kills, p.met.Load(), p.most.Load(), unknown, released)
}

// liveUnderQuota is one process from its start to its death, amid its callers.
func liveUnderQuota(t *testing.T, file string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAGatewayIsKilled$")
	cmd.Env = append(os.Environ(), killedConfig+"="+file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "http://") {
		t.Fatalf("the process says %q", lines.Text())
	}
	url := lines.Text()
	var answered atomic.Int64
	dead, enough := make(chan struct{}), int64(1+rand.IntN(150))
	var once sync.Once
	var callers sync.WaitGroup
	for range 12 {
		callers.Go(func() {
			client := &http.Client{Timeout: soon, Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			for {
				if res, err := client.Get(url); err == nil {
					res.Body.Close()
					if answered.Add(1) >= enough {
						once.Do(func() { cmd.Process.Kill(); cmd.Wait(); close(dead) })
					}
				}
				select {
				case <-dead:
					return
				default:
				}
			}
		})
	}
	callers.Wait()
}

// afterwards opens the ledger as the next process would, looks at what the dead one has
// left, and ends what is unknown by the provider's own record: nothing runs any more.
func afterwards(t *testing.T, path string, met int64) (released, unknown int) {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, s, "who looks") // audits
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if released, unknown, err = l.Orphan(ctx, func(string) bool { return true }, "its gateway was killed"); err != nil {
		t.Fatal(err)
	}
	may, lost := int64(0), []ledger.Call{}
	err = s.View(ctx, func(r ledger.Rows) error {
		return r.All(func(c ledger.Call) error {
			switch c.State {
			case quota.Reserved, quota.Started:
				t.Errorf("%s is %v, and its owner is dead", c.ID, c.State)
			case quota.Unknown:
				lost = append(lost, c)
			}
			if c.State == quota.Settled || c.State == quota.Unknown {
				may++
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if may < met {
		t.Errorf("the provider met %d calls, the ledger knows of %d", met, may)
	}
	for _, c := range lost {
		if err := l.Reconcile(ctx, c.ID, c.Attempt, ledger.Known{Used: c.Taken, Evidence: "the provider runs nothing any more"}); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := l.Audit(ctx); err != nil || len(found.Wrong) > 0 {
		t.Fatalf("%v: %v", found.Wrong, err)
	}
	return released, unknown
}
