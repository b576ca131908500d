package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/gateway"
)

// adminClient asks a gateway that runs, through its admin listener.
type adminClient struct {
	address, tokenFile string
}

// adminTokenEnv holds the admin token where --token-file names no file. A token
// on the command line would be seen by everybody on the machine.
const adminTokenEnv = "SPILLWAY_ADMIN_TOKEN"

func (a *adminClient) flags(c *cobra.Command) {
	c.Flags().StringVar(&a.address, "admin", "127.0.0.1:9900", "the gateway's admin listener: host:port, http(s)://host:port or unix:/path")
	c.Flags().StringVar(&a.tokenFile, "token-file", "", "`FILE` with the admin token; without it the environment's "+adminTokenEnv)
}

// answerMost bounds what is read of an answer, in bytes.
const answerMost = 64 << 20

// ask posts to a path of the admin listener and decodes its answer into doc,
// whose status it returns. Answers that are no JSON are errors.
func (a *adminClient) ask(ctx context.Context, path string, doc any) (status int, err error) {
	return a.do(ctx, http.MethodPost, path, doc)
}

// get is ask for what changes nothing.
func (a *adminClient) get(ctx context.Context, path string, doc any) (status int, err error) {
	return a.do(ctx, http.MethodGet, path, doc)
}

func (a *adminClient) do(ctx context.Context, method, path string, doc any) (status int, err error) {
	return a.send(ctx, method, path, nil, nil, doc)
}

// send is do with a body and further headers.
func (a *adminClient) send(ctx context.Context, method, path string, sent []byte, header http.Header, doc any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client, base, err := a.client()
	if err != nil {
		return 0, usage(err)
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(sent))
	if err != nil {
		return 0, usage(err)
	}
	maps.Copy(req.Header, header)
	token, err := a.token()
	if err != nil {
		return 0, usage(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set(gateway.HeaderOperator, whoami())
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return 0, failed(fmt.Errorf("no gateway answers at %s: %w; name its admin listener with --admin", a.address, plain(err)))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return 0, failed(err)
	}
	if res.StatusCode == http.StatusUnauthorized {
		return 0, failed(fmt.Errorf("the gateway wants another token: name its file with --token-file, or set %s", adminTokenEnv))
	}
	if json.Unmarshal(body, doc) != nil {
		return 0, failed(fmt.Errorf("the gateway answers %d: %s", res.StatusCode, strings.TrimSpace(string(body))))
	}
	return res.StatusCode, nil
}

// client returns a client for the address, and what its URLs begin with.
func (a *adminClient) client() (*http.Client, string, error) {
	if path, ok := strings.CutPrefix(a.address, "unix:"); ok {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		return &http.Client{Transport: &http.Transport{DialContext: dial}}, "http://localhost", nil
	}
	base := a.address
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Port() == "" || u.Path != "" {
		return nil, "", fmt.Errorf("--admin %q: write host:port, http(s)://host:port or unix:/path", a.address)
	}
	return &http.Client{Transport: &http.Transport{}}, base, nil
}

func (a *adminClient) token() (string, error) {
	if a.tokenFile == "" {
		return os.Getenv(adminTokenEnv), nil
	}
	b, err := os.ReadFile(a.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// whoami is who is named in the gateway's log.
func whoami() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return cmp.Or(os.Getenv("SUDO_USER"), name, "unknown")
}

// plain drops the method and the address from a client's error.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
