package sse_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/provider/sse"
)

type event struct{ name, data string }

func split(t interface{ Fatalf(string, ...any) }, s *sse.Splitter, pieces ...string) (events []event, raw string) {
	var scratch []byte
	for _, p := range pieces {
		s.Feed([]byte(p), func(f sse.Frame) {
			raw += string(f.Raw)
			var e event
			var data []byte
			e.name, data, scratch = f.Event(scratch)
			if e.data = string(data); e != (event{}) {
				events = append(events, e)
			}
		})
	}
	rest := s.Rest()
	raw += string(rest.Raw)
	if all := strings.Join(pieces, ""); raw != all {
		t.Fatalf("let through %q of %q", raw, all)
	}
	return events, raw
}

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []event
	}{
		{"one", "data: a\n\n", []event{{"", "a"}}},
		{"no space after the colon", "data:a\n\n", []event{{"", "a"}}},
		{"only one space is no part of it", "data:  a\n\n", []event{{"", " a"}}},
		{"named", "event: error\ndata: {}\n\n", []event{{"error", "{}"}}},
		{"CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{"x", "a"}, {"", "b"}}},
		{"CR alone", "data: a\r\rdata: b\r\r", []event{{"", "a"}, {"", "b"}}},
		{"several lines", "data: a\ndata: b\ndata\ndata: c\n\n", []event{{"", "a\nb\n\nc"}}},
		{"comments and what nobody knows", ": ping\n\nid: 7\nretry: 1\ndata: a\n\n", []event{{"", "a"}}},
		{"blank lines between", "\n\n\ndata: a\n\n\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}},
		{"a mark of byte order", "\xef\xbb\xbfdata: a\n\n", []event{{"", "a"}}},
		{"broken off", "data: a\n\ndata: b\n", []event{{"", "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := 0; cut <= len(c.stream); cut++ {
				got, _ := split(t, new(sse.Splitter), c.stream[:cut], c.stream[cut:])
				if len(got) != len(c.want) {
					t.Fatalf("cut at %d: %q, want %q", cut, got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("cut at %d: %q, want %q", cut, got, c.want)
					}
				}
			}
		})
	}
}

// Where the pieces are cut changes nothing, characters of several bytes included.
func TestPiecesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"data: ", "data", ":", "event: e", "\n", "\r", "\r\n", "\n\n", "héé", "漢字", "x", "\r\n\r\n",
		})).Draw(t, "stream"), "")
		whole, _ := split(t, new(sse.Splitter), stream)
		var pieces []string
		for rest := stream; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		cut, _ := split(t, new(sse.Splitter), pieces...)
		if len(whole) != len(cut) {
			t.Fatalf("%q in pieces %q: %q, want %q", stream, pieces, cut, whole)
		}
		for i := range cut {
			if cut[i] != whole[i] {
				t.Fatalf("%q in pieces %q: %q, want %q", stream, pieces, cut, whole)
			}
		}
	})
}

func TestALongFrameIsLetThroughAndTheNextIsRead(t *testing.T) {
	long := "data: " + strings.Repeat("x", 1000) + "\n\n"
	var pieces []string
	for rest := long + "data: next\n\n"; rest != ""; {
		n := min(7, len(rest))
		pieces = append(pieces, rest[:n])
		rest = rest[n:]
	}
	got, _ := split(t, &sse.Splitter{Most: 100}, pieces...)
	if len(got) != 1 || got[0].data != "next" {
		t.Errorf("%q, want the next alone", got)
	}
}

func TestNothingIsKeptBeyondTheBound(t *testing.T) {
	s, held := &sse.Splitter{Most: 64}, 0
	for range 100_000 {
		in, out := 10, 0
		s.Feed(bytes.Repeat([]byte("y"), in), func(f sse.Frame) { out += len(f.Raw) })
		if held += in - out; held > 64+10 {
			t.Fatalf("%d bytes are held back", held)
		}
	}
}

func TestAFrameThatComesWholeIsNotCopied(t *testing.T) {
	p := []byte("data: {\"a\":1}\n\n")
	s := new(sse.Splitter)
	var scratch []byte
	if n := testing.AllocsPerRun(100, func() {
		s.Feed(p, func(f sse.Frame) { _, _, scratch = f.Event(scratch) })
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("event: e\r\ndata: a\r\n\r\n: c\n\ndata: b", 3, 10)
	f.Add("data: \xff\xfe\r\rdata:\n\n\n", 1, 1)
	f.Fuzz(func(t *testing.T, stream string, piece, most int) {
		s := &sse.Splitter{Most: max(most, 1)}
		var pieces []string
		for rest := stream; rest != ""; {
			n := min(max(piece, 1), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		split(t, s, pieces...)
	})
}
