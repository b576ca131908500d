package cluster

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/test/need"
)

// Pooler starts PgBouncer in transaction mode in front of the cluster, with few
// connections behind it, and returns where a database is by way of it. It is stopped
// when the test ends.
func (c *Cluster) Pooler(t testing.TB, database string) string {
	t.Helper()
	program := need.Command(t, "pgbouncer")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	users, ini := filepath.Join(c.dir, "users.txt"), filepath.Join(c.dir, "pooler.ini")
	text := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`, c.port, port, users)
	for name, content := range map[string]string{users: "\"spillway\" \"\"\n", ini: text} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := c.command(program, ini)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	for begun := time.Now(); ; {
		if conn, err := net.DialTimeout("tcp", u.Host, time.Second); err == nil {
			conn.Close()
			return u.String()
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("pgbouncer: %v\n%s", err, said.String())
		default:
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("pgbouncer does not answer")
		}
	}
}
