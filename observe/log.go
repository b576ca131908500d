package observe

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes lines of the given format, json or
// text, from the given level on: debug, info, warn or error. Both formats
// escape what they are given; nothing that a caller sent can end a line.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is not one of debug, info, warn and error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log format %q is neither json nor text", format)
}
