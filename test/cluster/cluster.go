package cluster

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/spillway-dev/spillway/test/need"
)

// Cluster is a running PostgreSQL.
type Cluster struct {
	dir, ctl string
	port     int
	as       *syscall.SysProcAttr
}

// Start starts one and stops it when the test ends.
func Start(t testing.TB) *Cluster {
	t.Helper()
	initdb, ctl := need.Command(t, "initdb"), need.Command(t, "pg_ctl")
	dir, err := os.MkdirTemp("", "spillway-pg-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: dir, ctl: ctl, port: freePort(t), as: other(t, dir)}
	t.Cleanup(func() {
		c.run(t, ctl, "stop", "-D", c.data(), "-m", "immediate", "-w")
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if out, err := c.command(initdb, "-D", c.data(), "-U", "spillway", "-A", "trust", "-N", "--no-locale", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	c.Start(t)
	return c
}

// Start starts a cluster that was stopped or killed.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	options := fmt.Sprintf("-p %d -k %s -c listen_addresses=127.0.0.1 -c max_connections=200", c.port, c.dir)
	if out, err := c.command(c.ctl, "start", "-D", c.data(), "-w", "-l", filepath.Join(c.dir, "log"), "-o", options).CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		t.Fatalf("pg_ctl start: %v\n%s\n%s", err, out, log)
	}
}

// Kill ends it at once, as the loss of power would.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	c.run(t, c.ctl, "stop", "-D", c.data(), "-m", "immediate", "-w")
}

// URL is where it is.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://spillway@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// Database makes an empty database and returns where it is.
func (c *Cluster) Database(t testing.TB, name string) string {
	t.Helper()
	psql := need.Command(t, "psql")
	if out, err := c.command(psql, "-h", "127.0.0.1", "-p", strconv.Itoa(c.port), "-U", "spillway", "-d", "postgres", "-c", "CREATE DATABASE "+name).CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return c.URL(name)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = c.as
	cmd.Dir = c.dir
	return cmd
}

func (c *Cluster) run(t testing.TB, name string, args ...string) {
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		t.Logf("%s: %v\n%s", filepath.Base(name), err, out)
	}
}

// other is who the server runs as: it refuses to be root's.
func other(t testing.TB, dir string) *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("needs the user postgres: install postgresql from the system's packages, or do not be root")
	}
	uid, err := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err != nil || err2 != nil {
		t.Skipf("needs the user postgres: its ids are %s and %s", u.Uid, u.Gid)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
