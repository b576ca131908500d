package pressure

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// fileMost is the most that is read of a file; the kernel's are far smaller.
const fileMost = 64 << 10

// text returns what a file says, "" if it cannot be read.
func text(root fs.FS, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, fileMost))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// group returns the path of the process's control group of version 2 below the
// root, and false if it has none.
func group(root fs.FS) (string, bool) {
	for line := range strings.Lines(text(root, "proc/self/cgroup")) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			dir := path.Join("sys/fs/cgroup", path.Clean("/"+at))
			return dir, text(root, path.Join(dir, "cgroup.controllers")) != "" || text(root, path.Join(dir, "cpu.stat")) != ""
		}
	}
	return "", false
}

// number reads a whole number of at least 0; "max", which is no limit, is none.
func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// field returns a figure of a file of lines "name figure".
func field(s, name string) (int64, bool) {
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			return number(f[1])
		}
	}
	return 0, false
}

// quota reads cpu.max, "quota period" in microseconds, as processors; false where
// there is no limit.
func quota(s string) (float64, bool) {
	f := strings.Fields(s)
	if len(f) != 2 {
		return 0, false
	}
	most, ok := number(f[0])
	period, fine := number(f[1])
	if !ok || !fine || most == 0 || period == 0 {
		return 0, false
	}
	return float64(most) / float64(period), true
}

// stall reads the line "some avg10=1.50 ..." of pressure stall information.
func stall(s string) Share {
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "some" {
			continue
		}
		v, ok := strings.CutPrefix(f[1], "avg10=")
		percent, err := strconv.ParseFloat(v, 64)
		if ok && err == nil && percent >= 0 && percent <= 100 {
			return share(percent / 100)
		}
	}
	return Share{}
}
