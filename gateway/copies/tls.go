package copies

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
)

// lookEvery is how often the files are looked at, when connections are made.
const lookEvery = 2 * time.Second

// filesMax bounds what is read of a file: a bundle of all public authorities has
// 250 KiB.
const filesMax = 4 << 20

// certificates are what TLS is spoken with. Their files are read again when they
// have changed; files that cannot be used change nothing.
type certificates struct {
	cfg TLS
	log *slog.Logger

	mu       sync.Mutex
	looked   time.Time
	stamp    string // of the files as they were read, or refused
	roots    *x509.CertPool
	shown    *tls.Certificate
	sessions tls.ClientSessionCache
}

func newCertificates(cfg TLS, log *slog.Logger) (*certificates, error) {
	if cfg.MinVersion == 0 {
		cfg.MinVersion = tls.VersionTLS12
	}
	t := &certificates{cfg: cfg, log: log, looked: time.Now()}
	t.stamp = t.stampNow()
	return t, t.read()
}

// config returns what a handshake with the host is made with. asked is set when the
// other side asks for a certificate: in TLS 1.3 it says only after the handshake
// that it does not like what it was shown, and to whoever reads first.
func (t *certificates) config(host string, protocols []string, asked *atomic.Bool) *tls.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	if t.cfg.ServerName != "" {
		host = t.cfg.ServerName
	}
	shown := t.shown
	return &tls.Config{
		MinVersion: t.cfg.MinVersion, ServerName: host, NextProtos: protocols,
		RootCAs: t.roots, ClientSessionCache: t.sessions,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked.Store(true)
			if shown == nil {
				return new(tls.Certificate), nil
			}
			return shown, nil
		},
	}
}

// look reads the files again if they have changed.
func (t *certificates) look() {
	if now := time.Now(); now.Sub(t.looked) < lookEvery {
		return
	} else {
		t.looked = now
	}
	stamp := t.stampNow()
	if stamp == t.stamp {
		return
	}
	t.stamp = stamp
	if err := t.read(); err != nil {
		t.log.Warn("changed files of TLS cannot be used; those from before stay", "err", err)
		return
	}
	t.log.Info("files of TLS were read again")
}

// stampNow is different when a file has changed.
func (t *certificates) stampNow() string {
	var b strings.Builder
	for _, path := range []string{t.cfg.CA, t.cfg.Cert, t.cfg.Key} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d %d;", info.ModTime().UnixNano(), info.Size())
		} else {
			b.WriteString("gone;")
		}
	}
	return b.String()
}

func (t *certificates) read() error {
	var roots *x509.CertPool
	var shown *tls.Certificate
	if t.cfg.CA != "" {
		text, err := readFile(t.cfg.CA)
		if err != nil {
			return fmt.Errorf("tls.ca: %w", err)
		}
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return fmt.Errorf("tls.ca: %s holds no certificate; it must be PEM, with lines BEGIN CERTIFICATE", t.cfg.CA)
		}
	}
	if t.cfg.Cert != "" {
		cert, err := readFile(t.cfg.Cert)
		if err != nil {
			return fmt.Errorf("tls.cert: %w", err)
		}
		key, err := readFile(t.cfg.Key)
		if err != nil {
			return fmt.Errorf("tls.key: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("tls.cert %s and tls.key %s: %w; write the certificate, leaf first, and the key that belongs to it", t.cfg.Cert, t.cfg.Key, err)
		}
		shown = &pair
	}
	t.roots, t.shown = roots, shown
	t.sessions = tls.NewLRUClientSessionCache(0) // what was agreed on by other files is void
	return nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > filesMax {
		return nil, fmt.Errorf("%s is no regular file of at most %d MiB", path, filesMax>>20)
	}
	return os.ReadFile(path)
}

// Explain says of an error of TLS what is wrong and what would be right, if it
// knows, and wraps it; any other error it returns as it is.
func (c *Copy) Explain(err error) error {
	if explained := explain(err); explained != err || err == nil {
		return explained
	}
	if _, known := errors.AsType[*DialError](err); known || !c.asked.Load() {
		return err
	}
	broke := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "client conn could not be established")
	if !strings.Contains(err.Error(), "tls: ") && (!broke || c.outcomes[spread.Answered].Load() > 0) {
		return err
	}
	return fmt.Errorf("it asks for a certificate that it trusts; set tls: { cert: FILE, key: FILE } (%w)", err)
}

func explain(err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	what := ""
	switch {
	case err == nil:
		return nil
	case errors.As(err, &authority):
		what = "its certificate is signed by nobody who is trusted; name who signs it with tls: { ca: FILE }"
	case errors.As(err, &name):
		what = fmt.Sprintf("its certificate is not for %s; set tls: { server_name: NAME } to a name that it bears", name.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		what = "its certificate has expired, or is not valid yet; renew it, or set the clocks right"
	case errors.As(err, &record):
		what = "it does not speak TLS; begin its URL with http://"
	default:
		return err
	}
	return fmt.Errorf("%s (%w)", what, err)
}
