package rungs

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Static is a fixed answer. It is not changed once made.
type Static struct {
	// Status of the answer; 0: 200.
	Status int
	// Type is its Content-Type; "": none is said.
	Type string
	// Body is given to every request as it is.
	Body []byte
}

// types are the endings of names whose type is known. The system's own table would
// say something else on another machine.
var types = map[string]string{
	".json": "application/json", ".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".xml": "application/xml", ".csv": "text/csv; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
}

// TypeOf returns the Content-Type for a file of that name.
func TypeOf(name string) string {
	if t, ok := types[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}

// write answers with it. Nobody on the way is to keep it: it stands in for an answer,
// and is not one.
func (s *Static) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Cache-Control"] = []string{"no-store"}
	h["Content-Type"] = nil
	if s.Type != "" {
		h["Content-Type"] = []string{s.Type}
	}
	status := s.Status
	if status == 0 {
		status = http.StatusOK
	}
	bare := status == http.StatusNoContent || status == http.StatusNotModified
	if !bare {
		h["Content-Length"] = []string{strconv.Itoa(len(s.Body))}
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead && !bare {
		w.Write(s.Body) // an error is the caller having gone
	}
}
