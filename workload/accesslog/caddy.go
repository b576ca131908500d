package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// caddy reads Caddy's JSON, behind whatever a container runtime puts before it.
// Lines that are not of its access log are ErrNoRequest. ts is when the request
// ended, in Unix seconds or one of the other time_formats; duration in seconds,
// or as 1.67ms.
type caddy struct{}

func (caddy) More() []string { return nil }

type caddyLine struct {
	TS       json.RawMessage `json:"ts"`
	Duration json.RawMessage `json:"duration"`
	Status   int             `json:"status"`
	Size     *int64          `json:"size"`
	Read     *int64          `json:"bytes_read"`
	User     string          `json:"user_id"`
	Request  *struct {
		Client string `json:"client_ip"`
		Remote string `json:"remote_ip"`
		Method string `json:"method"`
		Host   string `json:"host"`
		URI    string `json:"uri"`
	} `json:"request"`
}

// Parse implements Parser.
func (caddy) Parse(line []byte, e *Entry) error {
	e.reset()
	var l caddyLine
	if err := object(line, &l); err != nil {
		return err
	}
	if l.Request == nil {
		return ErrNoRequest
	}
	var err error
	if e.At, e.Coarse, err = parseAny(unquoted(l.TS)); err != nil {
		return fmt.Errorf("ts: %w", err)
	}
	if e.At, err = inRange(e.At); err != nil {
		return fmt.Errorf("ts: %w", err)
	}
	e.AtEnd = true
	if text := unquoted(l.Duration); !empty(text) {
		if e.Took, err = duration(text); err != nil {
			return fmt.Errorf("duration: %w", err)
		}
	}
	e.Client = known([]byte(l.Request.Client))
	if e.Client == nil {
		e.Client = known([]byte(l.Request.Remote))
	}
	e.User, e.Host, e.Method = known([]byte(l.User)), known([]byte(l.Request.Host)), known([]byte(l.Request.Method))
	e.Status = min(max(l.Status, 0), 999)
	if l.Size != nil {
		e.Bytes = max(*l.Size, 0)
	}
	if l.Read != nil {
		e.RequestBytes = max(*l.Read, 0)
	}
	return e.setTarget([]byte(l.Request.URI))
}

// object decodes the JSON object of a line, which may have something before it.
func object(line []byte, into any) error {
	i := bytes.IndexByte(line, '{')
	if i < 0 {
		return errors.New("it is no JSON object")
	}
	if err := json.Unmarshal(line[i:], into); err != nil {
		return fmt.Errorf("it is no JSON object as expected: %w", err)
	}
	return nil
}

// unquoted returns a string's or a number's text.
func unquoted(value json.RawMessage) []byte {
	if len(value) == 0 || value[0] != '"' {
		if bytes.Equal(value, []byte("null")) {
			return nil
		}
		return value
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []byte(text)
}

// duration reads 0.0016 (seconds) or 1.67ms.
func duration(text []byte) (int64, error) {
	if n, err := parseLength(text, 1e9); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 || d > longest {
		return 0, badValue("length of time up to a year", text)
	}
	return int64(d), nil
}

func inRange(ns int64) (int64, error) {
	if ns <= earliest || ns/1e6 > latest {
		return 0, badValue("time from the years 1970 to 2200", strconv.AppendInt(nil, ns, 10))
	}
	return ns, nil
}
