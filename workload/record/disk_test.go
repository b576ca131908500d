package record

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullDisk lets so many bytes through and then says that there is no space,
// having written a part of what it was given.
type fullDisk struct {
	file
	room *int
}

func (f fullDisk) Write(p []byte) (int, error) {
	if len(p) <= *f.room {
		*f.room -= len(p)
		return f.file.Write(p)
	}
	n, _ := f.file.Write(p[:*f.room])
	*f.room = 0
	return n, syscall.ENOSPC
}

func (f fullDisk) Truncate(size int64) error {
	*f.room = 0
	return f.file.Truncate(size)
}

// TestFullDisk: what does not fit is counted, said once, and what had been
// written stays whole; once there is space again, recording goes on.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.rec")
	room := 4000
	var said []string
	o := Options{
		Path: path, MaxSize: MaxSizeLeast, Keep: 2, Classes: []string{"a"}, Outcomes: []string{"none"},
		Warn: func(text string) { said = append(said, text) },
		create: func(path string) (file, error) {
			f, err := createFile(path)
			return fullDisk{f, &room}, err
		},
	}
	r := &Recorder{}
	d := &disk{recorder: r, options: o, header: Header{Version: version, Recording: "x"}}
	flush := func(n int) {
		requests := make([]Request, n)
		for i := range requests {
			requests[i] = Request{Tenant: uint64(i + 1), Service: time.Second}
		}
		d.flush(requests, o.Classes)
	}
	flush(10)
	flush(1000) // more than there is room for
	flush(1000)
	room = 1 << 20
	flush(10)
	d.close()

	if s := r.Stats(); s.Written != 20 || s.Dropped != 2000 || s.Failing {
		t.Errorf("stats %+v", s)
	}
	if len(said) != 2 || !strings.Contains(said[0], "no space left") || said[1] != "recording again; 2000 requests were lost" {
		t.Errorf("said %q", said)
	}
	read, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var q Request
	for read.Next(&q) {
	}
	if s := read.Stats(); s.Requests != 20 || s.Lost != 2000 || s.Damaged != 0 {
		t.Errorf("read %+v", s)
	}
}

// TestUnwritable: a folder that is not there stops nobody, and is tried again.
func TestUnwritable(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "later")
	path := filepath.Join(folder, "x.rec")
	warned := make(chan string, 10)
	r, err := New(Options{Path: path, Outcomes: []string{"none"}, Flush: time.Millisecond, Warn: func(text string) { warned <- text }})
	if err != nil {
		t.Fatal(err)
	}
	if text := <-warned; !strings.Contains(text, "no such file or directory") {
		t.Errorf("warned %q", text)
	}
	r.Add(&Request{})
	for r.Stats().Dropped == 0 {
		runtime.Gosched() // the writer works on a real disk
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if text := <-warned; text != "recording again; 1 requests were lost" {
		t.Errorf("warned %q", text)
	}
	r.Add(&Request{})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if s := r.Stats(); s.Written != 1 || s.Dropped != 1 {
		t.Errorf("stats %+v", s)
	}
}

// TestCloseTells: who stops a recording that fails is told.
func TestCloseTells(t *testing.T) {
	r, err := New(Options{Path: filepath.Join(t.TempDir(), "none", "x.rec"), Outcomes: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Close: %v", err)
	}
}
