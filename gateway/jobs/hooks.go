package jobs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/ledger"
)

// Hooks are where the end of a job may be told.
type Hooks struct {
	// Hosts are the only ones: host, host:port, or http://host:port without TLS.
	Hosts    []string
	Secret   string
	Timeout  time.Duration
	Attempts int64
}

// Allows returns nil if the end of a job may be told there, else what is wrong.
func (h *Hooks) Allows(hook string) error {
	u, err := url.Parse(hook)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		return fmt.Errorf("a webhook is a URL of http or https without a user")
	}
	if !slices.ContainsFunc(h.Hosts, func(allowed string) bool { return originOf(allowed) == originOf(u.Scheme+"://"+u.Host) }) {
		return fmt.Errorf("a webhook may be at one of the hosts that are configured, and %q is none", u.Host)
	}
	return nil
}

// originOf is scheme, host and port of a host as it is written.
func originOf(host string) string {
	scheme, rest, found := strings.Cut(host, "://")
	if !found {
		scheme, rest = "https", host
	}
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = rest, map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + strings.ToLower(strings.Trim(name, "[]")) + " " + port
}

// sign signs a delivery as Standard Webhooks say.
func (h *Hooks) sign(id, stamp string, body []byte) string {
	secret := []byte(h.Secret)
	if text, is := strings.CutPrefix(h.Secret, "whsec_"); is {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			secret = raw
		}
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.", id, stamp)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// client follows no redirects, keeps nothing, and goes by no proxy of the environment's.
func (h *Hooks) client() *http.Client {
	return &http.Client{
		Timeout:       h.Timeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: tellAtOnce, MaxResponseHeaderBytes: 16 << 10, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

const (
	// tellAtOnce is how many ends are told at once.
	tellAtOnce = 4
	// tellEvery is how often the ledger is asked whom to tell.
	tellEvery = time.Second
	// tellPauseMost is the longest pause between two attempts.
	tellPauseMost = time.Hour
)

func (j *Jobs) stirTeller() {
	select {
	case j.tell <- struct{}{}:
	default:
	}
}

// tellAll tells the ends of jobs until there is nobody to tell and the jobs have ended.
func (j *Jobs) tellAll() {
	client := j.Hooks.client()
	defer client.CloseIdleConnections()
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		jobs, err := j.Ledger.ToTell(j.picking, tellAtOnce)
		if err == nil && len(jobs) > 0 {
			var all sync.WaitGroup
			for _, one := range jobs {
				all.Go(func() { j.tellOne(client, &one) })
			}
			all.Wait()
			continue
		}
		select {
		case <-j.picking.Done():
			return
		case <-j.tell:
		case <-tick.C:
		}
	}
}

// tellOne tells the end of a job once.
func (j *Jobs) tellOne(client *http.Client, one *ledger.Job) {
	err := j.deliver(client, one)
	again := time.Duration(0)
	if one.Told+1 < j.Hooks.Attempts {
		again = min(time.Second<<min(one.Told, 20), tellPauseMost)
	}
	if err != nil {
		j.log.Warn("the end of a job could not be told", "job", one.ID, "attempt", one.Told+1, "again_in", again, "error", err)
	}
	if err := j.Ledger.ToldJob(context.WithoutCancel(j.picking), one.ID, err == nil, again); err != nil {
		j.log.Warn("that the end of a job was told could not be kept: it is told again", "job", one.ID, "error", err)
	}
}

func (j *Jobs) deliver(client *http.Client, one *ledger.Job) error {
	if err := j.Hooks.Allows(one.Webhook); err != nil { // it may have been allowed when the job came
		return err
	}
	body, err := json.Marshal(map[string]any{"type": "job.ended", "timestamp": now().UTC(), "data": Shown(one)})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(j.running, http.MethodPost, one.Webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "spillway")
	r.Header.Set("Webhook-Id", one.ID)
	r.Header.Set("Webhook-Timestamp", stamp)
	r.Header.Set("Webhook-Signature", j.Hooks.sign(one.ID, stamp, body))
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("answered %d", res.StatusCode)
	}
	return nil
}
