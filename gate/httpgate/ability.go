package httpgate

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// Handlers ask a writer what it can do by asserting interfaces, so a writer
// around another must have exactly the other's. Each ability is a type with one
// method, and show puts together those that are there.
type (
	flusher  struct{ w *writer }
	hijacker struct{ w *writer }
	pusher   struct{ w *writer }
	reader   struct{ w *writer }
)

func (a flusher) Flush()            { a.w.flush() }
func (a flusher) FlushError() error { return a.w.flush() }

func (a hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) { return a.w.hijack() }

func (a pusher) Push(target string, opts *http.PushOptions) error { return a.w.push(target, opts) }

func (a reader) ReadFrom(r io.Reader) (int64, error) { return a.w.readFrom(r) }

// show returns w with the abilities of the server's writer.
func show(w *writer, server http.ResponseWriter) http.ResponseWriter {
	f, h, p, r := flusher{w}, hijacker{w}, pusher{w}, reader{w}
	able := 0
	if _, ok := server.(http.Flusher); ok {
		able |= 1
	}
	if _, ok := server.(http.Hijacker); ok {
		able |= 2
	}
	if _, ok := server.(http.Pusher); ok {
		able |= 4
	}
	if _, ok := server.(io.ReaderFrom); ok {
		able |= 8
	}
	type W = *writer
	switch able {
	case 1:
		return struct {
			W
			flusher
		}{w, f}
	case 2:
		return struct {
			W
			hijacker
		}{w, h}
	case 1 | 2:
		return struct {
			W
			flusher
			hijacker
		}{w, f, h}
	case 4:
		return struct {
			W
			pusher
		}{w, p}
	case 1 | 4: // HTTP/2
		return struct {
			W
			flusher
			pusher
		}{w, f, p}
	case 2 | 4:
		return struct {
			W
			hijacker
			pusher
		}{w, h, p}
	case 1 | 2 | 4:
		return struct {
			W
			flusher
			hijacker
			pusher
		}{w, f, h, p}
	case 8:
		return struct {
			W
			reader
		}{w, r}
	case 1 | 8:
		return struct {
			W
			flusher
			reader
		}{w, f, r}
	case 2 | 8:
		return struct {
			W
			hijacker
			reader
		}{w, h, r}
	case 1 | 2 | 8: // HTTP/1.1
		return struct {
			W
			flusher
			hijacker
			reader
		}{w, f, h, r}
	case 4 | 8:
		return struct {
			W
			pusher
			reader
		}{w, p, r}
	case 1 | 4 | 8:
		return struct {
			W
			flusher
			pusher
			reader
		}{w, f, p, r}
	case 2 | 4 | 8:
		return struct {
			W
			hijacker
			pusher
			reader
		}{w, h, p, r}
	case 1 | 2 | 4 | 8:
		return struct {
			W
			flusher
			hijacker
			pusher
			reader
		}{w, f, h, p, r}
	}
	return w
}
