package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Module is the import path of the module of these benchmarks.
const Module = "github.com/spillway-dev/spillway/bench"

// Build compiles a command of this module, named by its folder, into dir and
// returns the path of the binary. It works from any folder of the module.
func Build(dir, command string) (string, error) {
	out := filepath.Join(dir, strings.ReplaceAll(command, "/", "-"))
	cmd := exec.Command("go", "build", "-o", out, Module+"/"+command)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s (run this inside the module %s): %w\n%s", command, Module, err, text)
	}
	return out, nil
}

// A Process is a child with its own address. Stop ends it.
type Process struct {
	Name string
	Addr string // host:port, as it said on its standard output

	cmd    *exec.Cmd
	waited chan struct{}
	err    error
}

// Start runs the binary, whose first line of output must be "listening ADDR",
// and returns once it has said so.
func Start(name string, env []string, binary string, args ...string) (*Process, error) {
	p := &Process{Name: name, waited: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	said := make(chan string, 1)
	go func() {
		defer close(p.waited)
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
		_, _ = io.Copy(io.Discard, out)
		p.err = p.cmd.Wait()
	}()
	select {
	case line := <-said:
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
		if !ok {
			p.Stop()
			return nil, fmt.Errorf("%s did not say where it listens: %q (%v)", name, line, p.err)
		}
		p.Addr = addr
		return p, nil
	case <-time.After(30 * time.Second):
		p.Stop()
		return nil, fmt.Errorf("%s did not start within 30s", name)
	}
}

// StartAt runs a binary that was told to listen on addr and says nothing, and
// returns once it accepts connections there.
func StartAt(name, addr, binary string, args ...string) (*Process, error) {
	p := &Process{Name: name, Addr: addr, waited: make(chan struct{}), cmd: exec.Command(binary, args...)}
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		defer close(p.waited)
		p.err = p.cmd.Wait()
	}()
	for range 300 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return p, nil
		}
		select {
		case <-p.waited:
			return nil, fmt.Errorf("%s ended: %v", name, p.err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	p.Stop()
	return nil, fmt.Errorf("%s did not listen on %s within 30s", name, addr)
}

// FreeAddr returns an address of loopback that nobody listens on just now.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Stop ends the process and waits for it.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.waited:
	case <-time.After(2 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.waited
	}
}

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	select {
	case <-p.waited:
		return false
	default:
		return true
	}
}

// CPU returns the user and system time that the process has used, all its
// threads together, from /proc/PID/stat; its grain is 10 ms.
func (p *Process) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseCPU(string(stat))
}

// userHz is the unit of /proc/PID/stat on every Linux that Go runs on.
const userHz = 100

func parseCPU(stat string) (time.Duration, error) {
	// The name of the program is in brackets and may hold anything.
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, errors.New("/proc/PID/stat: no program name")
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat: too short")
	}
	ticks := int64(0)
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / userHz), nil
}

// RSS returns how much memory the process holds now, in bytes.
func (p *Process) RSS() (int64, error) {
	return memory(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmRSS")
}

// PeakRSS returns the most memory that the calling process has held, in bytes.
func PeakRSS() (int64, error) { return memory("/proc/self/status", "VmHWM") }

func memory(file, name string) (int64, error) {
	status, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("%s: no %s", file, name)
}

// Watch samples the memory of the process until ctx ends.
func (p *Process) Watch(ctx context.Context, every time.Duration) (samples []int64) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return samples
		case <-tick.C:
			if rss, err := p.RSS(); err == nil {
				samples = append(samples, rss)
			}
		}
	}
}
