package live

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/lab/parts"
)

// gatewayPart is the real gateway.
type gatewayPart struct {
	parts.Trouble
	stop context.CancelFunc
	done chan struct{}
}

// drainLimit is how long keystrokes that nobody waits for any more are waited for.
const drainLimit = 2 * time.Second

// Open implements parts.Part.
func (p *gatewayPart) Open(s spec, scorer string) (string, error) {
	cfg, err := Configuration(s.File, "http://"+scorer)
	if err != nil {
		return "", err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: front, DrainLimit: drainLimit, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.done = stop, make(chan struct{})
	go func() {
		defer close(p.done)
		if err := g.Serve(ctx); err != nil {
			p.Fail(err)
		}
	}()
	return front.Addr().String(), nil
}

// Configuration reads the file of a round, with the list beside it, for a scorer at that
// URL.
func Configuration(file, scorer string) (*config.Config, error) {
	folder, err := os.MkdirTemp("", "spillway-strip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // what it holds has been read
	if err := os.WriteFile(filepath.Join(folder, ListFile), []byte(listed()), 0o600); err != nil {
		return nil, err
	}
	cfg, err := config.Parse(filepath.Join(folder, "strip.yaml"), []byte(strings.ReplaceAll(file, ScorerURL, scorer)))
	if err != nil {
		return nil, fmt.Errorf("BUG: lab strip: %w", err)
	}
	return cfg, nil
}

// Begin implements parts.Part.
func (p *gatewayPart) Begin(parts.Clock) {}

// End stops the gateway.
func (p *gatewayPart) End() any {
	p.stop()
	<-p.done
	return nil
}
