package edge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Files are where a listener's certificate is, in PEM.
type Files struct {
	Cert, Key string
	// ClientCA is whom callers' certificates must be signed by; "": they are not
	// asked for one.
	ClientCA string
	// ClientOptional lets callers in that have none.
	ClientOptional bool
	// Protocols are offered by ALPN; nil: h2 and http/1.1.
	Protocols []string
}

// mostPEM bounds a file: a bundle of all public authorities is a quarter of it.
const mostPEM = 1 << 20

// Certificates are a listener's, read again when they change. Connections that are
// open keep what they were made with.
type Certificates struct {
	files   Files
	current atomic.Pointer[tls.Config]
	mu      sync.Mutex // of reading
	read    [3][]byte  // what current was made of
}

// LoadCertificates reads the files.
func LoadCertificates(f Files) (*Certificates, error) {
	c := &Certificates{files: f}
	if _, err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config is what a listener uses for every connection from now on. TLS 1.2 is the
// oldest version; suites and curves are Go's, which are kept current.
func (c *Certificates) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current.Load(), nil
		},
	}
}

// Reload reads the files again and reports whether they have changed. What does
// not fit together, such as half of a new pair, changes nothing, and the error
// says what is wrong.
func (c *Certificates) Reload() (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var read [3][]byte
	for i, path := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if path == "" {
			continue
		}
		if read[i], err = readPEM(path); err != nil {
			return false, err
		}
	}
	if c.current.Load() != nil && bytes.Equal(read[0], c.read[0]) && bytes.Equal(read[1], c.read[1]) && bytes.Equal(read[2], c.read[2]) {
		return false, nil
	}
	pair, err := tls.X509KeyPair(read[0], read[1])
	if err != nil {
		return false, fmt.Errorf("%s and %s are no pair of certificate and key: %w", c.files.Cert, c.files.Key, err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		return false, fmt.Errorf("%s expired on %s", c.files.Cert, pair.Leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	next := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{pair},
	}
	if c.files.Protocols != nil {
		next.NextProtos = c.files.Protocols
	}
	if c.files.ClientCA != "" {
		next.ClientCAs = x509.NewCertPool()
		if !next.ClientCAs.AppendCertsFromPEM(read[2]) {
			return false, fmt.Errorf("%s holds no certificate that could be read", c.files.ClientCA)
		}
		next.ClientAuth = tls.RequireAndVerifyClientCert
		if c.files.ClientOptional {
			next.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	c.read = read
	c.current.Store(next)
	return true, nil
}

// Watch reloads when the files change, looking every so often, until ctx ends. It
// looks at what the files hold, so that it sees a change however it was made:
// written over, renamed, or a link that points elsewhere now. tell is told of a
// reload, and once of each thing that keeps one from working.
func (c *Certificates) Watch(ctx context.Context, every time.Duration, tell func(error)) {
	t := time.NewTicker(every)
	defer t.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		changed, err := c.Reload()
		switch {
		case err != nil && err.Error() != said:
			said = err.Error()
			tell(err)
		case err == nil:
			said = ""
			if changed {
				tell(nil)
			}
		}
	}
}

// String names the certificate's file.
func (c *Certificates) String() string { return c.files.Cert }

func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errors.New("is not a regular file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostPEM+1))
	if err == nil && len(b) > mostPEM {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return b, err
}
