package copies

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// checkGRPC asks grpc.health.v1.Health/Check over HTTP/2. One message each way, of
// one field each, is no reason for a gRPC library in the gateway.
func (c *Copy) checkGRPC(ctx context.Context, service string) error {
	u := *c.base
	u.Path = "/grpc.health.v1.Health/Check"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(healthRequest(service)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	req.Header.Set("User-Agent", "spillway-check")
	p := protocols(false, true)
	if c.secure {
		p = nil
	}
	t := c.prober(p, "h2")
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return err
	}
	status := res.Trailer.Get("Grpc-Status")
	if status == "" {
		status = res.Header.Get("Grpc-Status")
	}
	switch {
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("grpc.health.v1.Health/Check answered %d", res.StatusCode)
	case status == "12":
		return errors.New("it does not know grpc.health.v1.Health; register the health service, or use kind: connect")
	case status == "5":
		return fmt.Errorf("it has no service %q to tell the health of", service)
	case status != "0":
		return fmt.Errorf("grpc.health.v1.Health/Check ended with status %q", status)
	}
	return serving(body)
}

// healthRequest is a HealthCheckRequest as a gRPC message: not compressed, its
// length, and field 1, the service.
func healthRequest(service string) []byte {
	var m []byte
	if service != "" {
		m = append(m, 1<<3|2)
		m = binary.AppendUvarint(m, uint64(len(service)))
		m = append(m, service...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

// serving returns nil if the body is a HealthCheckResponse, as a gRPC message, whose
// field 1, the status, is SERVING.
func serving(body []byte) error {
	const statusServing = 1
	bad := errors.New("grpc.health.v1.Health/Check answered with something else than a status")
	if len(body) < 5 || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-5) {
		return bad
	}
	status := uint64(0) // of a message that does not say, UNKNOWN
	for m := body[5:]; len(m) > 0; {
		tag, n := binary.Uvarint(m)
		if n <= 0 {
			return bad
		}
		m = m[n:]
		value, n := binary.Uvarint(m)
		if n <= 0 {
			return bad
		}
		m = m[n:]
		switch tag & 7 {
		case 0: // a number
			if tag>>3 == 1 {
				status = value
			}
		case 2: // bytes, of a field that a later version has
			if value > uint64(len(m)) {
				return bad
			}
			m = m[value:]
		default:
			return bad
		}
	}
	if status != statusServing {
		return fmt.Errorf("it says that it is not serving (status %d)", status)
	}
	return nil
}
