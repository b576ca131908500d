package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a part that was started.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	tell *json.Encoder
	hear *json.Decoder
	grew tail
	once sync.Once
}

// tail keeps the end of what a part complains of.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailMax = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailMax; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

// String is its last line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}

// launch starts a part and tells it what it is for.
func launch[S any](name string, cmd *exec.Cmd, s spec[S]) (*process, error) {
	p := &process{name: name, cmd: cmd}
	cmd.Stderr, cmd.WaitDelay = &p.grew, time.Second
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.tell, p.hear = json.NewEncoder(p.in), json.NewDecoder(out)
	if err := p.tell.Encode(s); err != nil {
		p.kill()
		return nil, p.lost(err)
	}
	return p, nil
}

// said waits for what the part says.
func (p *process) said() (said, error) {
	var s said
	if err := p.hear.Decode(&s); err != nil {
		return s, p.lost(err)
	}
	return s, nil
}

func (p *process) order(o order) error {
	if err := p.tell.Encode(o); err != nil {
		return p.lost(err)
	}
	return nil
}

// lost says why a part no longer talks.
func (p *process) lost(err error) error {
	p.kill()
	if why := p.grew.String(); why != "" {
		return fmt.Errorf("the %s's process ended early: %s", p.name, why)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s's process ended early, without a word", p.name)
	}
	return fmt.Errorf("the %s's process: %w", p.name, err)
}

// kill ends the process, and returns when it has ended.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.in.Close()
		_ = p.cmd.Wait() // it was killed, and says so
	})
}
