package hostile_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/test/need"
)

// nginx runs one that logs what it takes for a request, one a line.
func nginx(t *testing.T) (addr string, log func() []string) {
	t.Helper()
	path := need.Command(t, "nginx")
	dir := t.TempDir()
	l := listen(t)
	addr = l.Addr().String()
	l.Close()
	file := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 256; }
http {
  log_format asked '$request_method $request_uri $request_length $status';
  access_log %[1]s/access.log asked;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  server { listen %[2]s; location / { return 200 "$request_uri"; } }
}`, dir, addr)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "-p", dir, "-c", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	until(t, "nginx listens", func() bool {
		k, err := net.Dial("tcp", addr)
		if err == nil {
			k.Close()
		}
		return err == nil
	})
	return addr, func() []string {
		b, err := os.ReadFile(filepath.Join(dir, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

// TestAmbiguousFramingsToNginx: the same table in front of another family of
// servers, which sees no request that the gateway did not mean.
func TestAmbiguousFramingsToNginx(t *testing.T) {
	addr, log := nginx(t)
	g := stand(t, addr, "")
	for i, f := range framings {
		c := dial(t, g.addr, f.fill(fmt.Sprintf("/nginx/%d/", i)))
		settle(c, bufio.NewReader(c), soon)
		c.Close()
	}
	g.behaves("/well")
	seen := map[string]int{}
	for _, l := range log() {
		path := strings.Fields(l + "  ")[1]
		seen[path]++
		if strings.Contains(l, smuggled) {
			t.Errorf("nginx took this for a request: %s", l)
		}
	}
	for i, f := range framings {
		n := seen[fmt.Sprintf("/nginx/%d/", i)]
		if n > 1 || n == 0 && f.body != refused {
			t.Errorf("%s: nginx saw %d requests", f.name, n)
		}
	}
	if len(seen) < 10 {
		t.Errorf("nginx saw only %d requests: the log is not what it should be", len(seen))
	}
}
