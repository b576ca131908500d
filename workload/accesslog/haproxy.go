package accesslog

import (
	"bytes"
	"errors"
	"fmt"
)

// haproxy reads HAProxy's HTTP log (option httplog), whatever syslog puts before
// it:
//
//	CLIENT:PORT [ACCEPTED] FRONTEND BACKEND/SERVER TR/Tw/Tc/Tr/Ta STATUS BYTES ... "REQUEST"
//
// 1.x writes Tq/Tw/Tc/Tr/Tt. Both stamps begin what the first timer ends: the
// header was there then, and that is the arrival. Of the rest, Tw is waiting
// in HAProxy's own queue, and what is left the service's.
type haproxy struct{}

func (haproxy) More() []string { return nil }

var errHAProxy = errors.New("it is no HAProxy HTTP log: CLIENT:PORT [TIME] FRONTEND BACKEND/SERVER TR/Tw/Tc/Tr/Ta STATUS BYTES and more")

// Parse implements Parser. What is in the log but no request (a proxy started, a
// handshake failed) is ErrNoRequest.
func (haproxy) Parse(line []byte, e *Entry) error {
	e.reset()
	open := bytes.Index(line, []byte(" ["))
	for open >= 0 && !isStamp(line[open+2:]) {
		next := bytes.Index(line[open+2:], []byte(" ["))
		if next < 0 {
			open = -1
			break
		}
		open += 2 + next
	}
	if open < 0 {
		if bytes.Contains(line, []byte("haproxy")) {
			return ErrNoRequest
		}
		return errHAProxy
	}
	before := line[:open]
	e.Client = before[bytes.LastIndexByte(before, ' ')+1:]
	if i := bytes.LastIndexByte(e.Client, ':'); i >= 0 {
		e.Client = e.Client[:i]
	}
	stampText, rest, ok := bytes.Cut(line[open+2:], []byte("] "))
	if !ok {
		return errHAProxy
	}
	var err error
	if e.At, e.Coarse, err = parseCommon(stampText); err != nil {
		return err
	}
	var fields [5][]byte // frontend, backend/server, timers, status, bytes
	for i := range fields {
		fields[i], rest, _ = bytes.Cut(rest, []byte{' '})
	}
	if bytes.HasSuffix(fields[0], []byte{':'}) {
		return ErrNoRequest // frontend/listener: a message
	}
	if err := e.timers(fields[2]); err != nil {
		return err
	}
	if err := status(e, fields[3]); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if err := sent(e, bytes.TrimPrefix(fields[4], []byte{'+'})); err != nil {
		return fmt.Errorf("bytes: %w", err)
	}
	first, last := bytes.IndexByte(rest, '"'), bytes.LastIndexByte(rest, '"')
	if first < 0 || last == first {
		return errors.New("it has no request in quotes")
	}
	return e.setRequest(rest[first+1 : last])
}

func isStamp(text []byte) bool {
	return len(text) > 20 && text[2] == '/' && text[6] == '/' && text[11] == ':'
}

// timers reads TR/Tw/Tc/Tr/Ta in ms. One that was never reached is -1, a total
// that was logged early (option logasap) begins with +.
func (e *Entry) timers(text []byte) error {
	var ms [5]int64
	rest := text
	for i := range ms {
		var part []byte
		part, rest, _ = bytes.Cut(rest, []byte{'/'})
		n, err := decimal(bytes.TrimPrefix(part, []byte{'+'}), 1)
		if err != nil || n < -1 || n > longest.Milliseconds() {
			return fmt.Errorf("timers: %w", badValue("TR/Tw/Tc/Tr/Ta in milliseconds", text))
		}
		ms[i] = n
	}
	if len(rest) > 0 {
		return fmt.Errorf("timers: %w", badValue("TR/Tw/Tc/Tr/Ta in milliseconds", text))
	}
	header, wait, total := max(ms[0], 0), max(ms[1], 0), max(ms[4], 0)
	e.Before = header * 1e6
	e.Took = max(total-header, 0) * 1e6
	e.Service = max(total-header-wait, 0) * 1e6
	if ms[2] < 0 { // no server was reached
		e.Service = 0
	}
	return nil
}
