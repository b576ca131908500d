package need

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// T is what of [testing.TB] a need uses.
type T interface {
	Helper()
	Skipf(format string, args ...any)
}

// DataEnv names the environment variable that holds the folder of recorded
// traces.
const DataEnv = "SPILLWAY_DATA"

// packages names the Debian package that brings a program of another name. `make
// deps` installs them all.
var packages = map[string]string{
	"chromedriver": "chromium-driver",
	"h2load":       "nghttp2-client",
	"initdb":       "postgresql",
	"ip":           "iproute2",
	"nghttp":       "nghttp2-client",
	"pg_ctl":       "postgresql",
	"postgres":     "postgresql",
	"promtool":     "prometheus",
	"psql":         "postgresql-client",
}

// aside is where programs lie that are installed but not on PATH.
var aside = []string{"/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/lib/postgresql/*/bin"}

// Command returns the path of the first of the named programs that the machine
// has, and skips the test where it has none. Beside PATH it looks where Debian
// puts servers.
func Command(t T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, ok := find(name); ok {
			return path
		}
	}
	t.Skipf("%s", missingCommand(names))
	return ""
}

// Data returns the path of a recorded trace, given relative to the folder that
// SPILLWAY_DATA names, and skips the test where there is no such folder or file.
func Data(t T, name string) string {
	t.Helper()
	folder := os.Getenv(DataEnv)
	if folder == "" {
		t.Skipf("needs %s: set %s to the folder of recorded traces", name, DataEnv)
		return ""
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s: it is not in %s=%s", name, DataEnv, folder)
		return ""
	}
	return path
}

func find(name string) (path string, ok bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	for _, pattern := range aside {
		matches, _ := filepath.Glob(filepath.Join(pattern, name)) // the patterns are well-formed
		slices.Reverse(matches)                                   // the newest version sorts last
		for _, match := range matches {
			if path, err := exec.LookPath(match); err == nil {
				return path, true
			}
		}
	}
	return "", false
}

func missingCommand(names []string) string {
	if len(names) == 0 {
		return "needs a program, but the test does not say which"
	}
	from := names[0]
	if p, ok := packages[from]; ok {
		from = p
	}
	text := names[0]
	for _, other := range names[1:] {
		text += " or " + other
	}
	return fmt.Sprintf("needs %s: `make deps`, or install %s", text, from)
}
