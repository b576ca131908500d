package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
)

// envoyJSON reads Envoy's JSON log, whose names are the operator's: those of
// Envoy's documentation, of Istio and of Contour are known. start_time is when
// the request began, durations are in milliseconds.
type envoyJSON struct{}

func (envoyJSON) More() []string { return nil }

// The names that go by for each value, the better ones first.
var (
	envoyStart    = []string{"start_time", "@timestamp", "timestamp", "time"}
	envoyDuration = []string{"duration", "duration_ms"}
	envoyService  = []string{"upstream_service_time", "x_envoy_upstream_service_time", "x-envoy-upstream-service-time", "resp_x_envoy_upstream_service_time"}
	envoyMethod   = []string{"method", ":method", "request_method"}
	envoyPath     = []string{"path", "x_envoy_original_path", "x-envoy-original-path", ":path", "uri_path", "request_path"}
	envoyHost     = []string{"authority", ":authority", "host"}
	envoyStatus   = []string{"response_code", "status", "response_status"}
	envoySent     = []string{"bytes_sent", "response_bytes"}
	envoyReceived = []string{"bytes_received", "request_bytes"}
	envoyClient   = []string{"downstream_remote_address", "downstream_remote_address_without_port", "downstream_direct_remote_address", "remote_address"}
)

// Parse implements Parser.
func (envoyJSON) Parse(line []byte, e *Entry) error {
	e.reset()
	var members map[string]json.RawMessage
	if err := object(line, &members); err != nil {
		return err
	}
	get := func(names []string) []byte {
		for _, name := range names {
			if text := unquoted(members[name]); !empty(text) {
				return text
			}
		}
		return nil
	}
	start := get(envoyStart)
	if start == nil || members["start_time"] == nil && members["response_code"] == nil {
		return errors.New("it has no start_time")
	}
	var err error
	if e.At, e.Coarse, err = parseAny(start); err == nil {
		e.At, err = inRange(e.At)
	}
	if err != nil {
		return fmt.Errorf("start_time: %w", err)
	}
	for _, v := range []struct {
		names []string
		to    *int64
		unit  int64
	}{{envoyDuration, &e.Took, 1e6}, {envoyService, &e.Service, 1e6}, {envoySent, &e.Bytes, 1}, {envoyReceived, &e.RequestBytes, 1}} {
		text := get(v.names)
		if text == nil {
			continue
		}
		if v.unit == 1 {
			*v.to, err = parseCount(text)
		} else {
			*v.to, err = parseLength(text, v.unit)
		}
		if err != nil {
			*v.to = -1
			return fmt.Errorf("%s: %w", v.names[0], err)
		}
	}
	if err := status(e, get(envoyStatus)); err != nil {
		return fmt.Errorf("response_code: %w", err)
	}
	e.Client = withoutPort(get(envoyClient))
	e.Method, e.Host = get(envoyMethod), get(envoyHost)
	path := get(envoyPath)
	if path == nil || e.Method == nil {
		return ErrNoRequest // a TCP connection
	}
	return e.setTarget(path)
}

// withoutPort cuts :port off an address; [::1]:80 is ::1.
func withoutPort(address []byte) []byte {
	colon := -1
	colons := 0
	for i, c := range address {
		if c == ':' {
			colon, colons = i, colons+1
		}
	}
	switch {
	case len(address) > 0 && address[0] == '[' && colon > 1 && address[colon-1] == ']':
		return address[1 : colon-1]
	case colons == 1:
		return address[:colon]
	}
	return address
}

// envoyText is Envoy's default format string.
const envoyText = `[$start_time] "$method $path $_" $status $_ $received $sent $duration $service "$_" "$_" "$_" "$host" "$_"`

// envoyTextValues are the values in it.
var envoyTextValues = map[string]value{
	"_":          skipped,
	"start_time": stamp(parseISO, false),
	"method":     method,
	"path":       target,
	"status":     status,
	"received":   received,
	"sent":       sent,
	"duration":   took(1e6),
	"service":    served(1e6),
	"host":       host,
}

// served is a value that says how long the service behind worked.
func served(unit int64) value {
	return func(e *Entry, text []byte) (err error) {
		if empty(text) {
			return nil
		}
		e.Service, err = parseLength(text, unit)
		return err
	}
}
