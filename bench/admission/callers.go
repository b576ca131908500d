package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

const bodyBytes = 256

// fleet is the connections of one side.
type fleet struct {
	conns   []net.Conn
	readers []*bufio.Reader
	request []byte
}

func dial(addr string, n int) (*fleet, error) {
	f := &fleet{request: []byte("GET /checkout HTTP/1.1\r\nHost: " + addr + "\r\nX-Tenant: acme\r\n\r\n")}
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			f.close()
			return nil, err
		}
		f.conns = append(f.conns, c)
		f.readers = append(f.readers, bufio.NewReader(c))
	}
	return f, nil
}

func (f *fleet) close() {
	for _, c := range f.conns {
		c.Close()
	}
}

// block sends n requests, shared among the connections, each waiting for its
// answer before the next, and returns the processor time a request, in µs.
func (f *fleet) block(n int) (float64, error) {
	each := max(1, n/len(f.conns))
	errs := make([]error, len(f.conns))
	var all sync.WaitGroup
	before := cpu()
	for i := range f.conns {
		all.Go(func() { errs[i] = f.send(i, each) })
	}
	all.Wait()
	used := cpu() - before
	return float64(used.Nanoseconds()) / 1000 / float64(each*len(f.conns)), errors.Join(errs...)
}

func (f *fleet) send(i, n int) error {
	for range n {
		if _, err := f.conns[i].Write(f.request); err != nil {
			return err
		}
		if err := answer(f.readers[i]); err != nil {
			return err
		}
	}
	return nil
}

// answer reads one answer, which must be 200 with a body of 256 bytes. It does
// as little as it can: what it costs is no part of what is measured.
func answer(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answered %q", line)
	}
	for len(line) > 2 {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
	}
	_, err = r.Discard(bodyBytes)
	return err
}

// cpu returns the user and system time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the call cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
