package record

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Recorder. Path, Classes and Outcomes are needed.
type Options struct {
	// Path is the file that is written. What is there already is moved aside,
	// to Path.1, as is the file itself when it is full; then what was Path.1
	// becomes Path.2, and so on.
	Path    string
	MaxSize int64 // bytes of a file, at least MaxSizeLeast; default MaxSizeDefault
	Keep    int   // files in all, so that MaxSize x Keep bounds the disk; default KeepDefault
	// Salt gives equal hashes in every recording with the same text; empty: one
	// that is made for this recording and written nowhere. At least SaltLeast
	// characters.
	Salt string

	Classes, Outcomes []string // names by index
	Known             []string // tenants whose hash the header is to hold, in order
	Config, Program   string   // for the header

	// Begin, if it is not nil, keeps the disk untouched until it is closed: what an
	// earlier recording left stays where it is if this one never begins. Requests
	// are held meanwhile as there is Room.
	Begin <-chan struct{}

	Room  int           // requests held between two flushes; default 32,768 (5 MB)
	Flush time.Duration // how much a crash may lose; default 1s
	// Warn is told once when recording begins to fail, and once when it works
	// again. It must not block. May be nil.
	Warn func(text string)

	create func(path string) (file, error) // for tests
}

// Bounds and defaults of Options.
const (
	MaxSizeDefault = 64 << 20
	MaxSizeLeast   = 1 << 20
	KeepDefault    = 8
	KeepMost       = 1000
	SaltLeast      = 16
)

// Recorder writes a recording. All methods may be called at any time from any
// goroutine; those of a nil Recorder do nothing.
type Recorder struct {
	start time.Time
	salt  salt
	disk  disk // the writer goroutine's alone

	mu      sync.Mutex
	filling []Request
	classes []string
	wake    chan struct{} // room for one: the buffer is half full
	stop    chan struct{}
	done    chan struct{}
	closing sync.Once

	lost, dropped, written, bytes atomic.Int64
	failing                       atomic.Bool
}

// Stats says how a recording goes.
type Stats struct {
	Written int64 // requests on disk
	Dropped int64 // requests lost: the disk was full or slow
	Bytes   int64 // written in all
	Failing bool  // the last write failed
}

// New starts a recording. It opens the file in the background, so that a disk
// that cannot be written to is told to Warn and stops nobody.
func New(o Options) (*Recorder, error) {
	o.MaxSize = cmp.Or(o.MaxSize, MaxSizeDefault)
	o.Keep = cmp.Or(o.Keep, KeepDefault)
	o.Room = cmp.Or(o.Room, 1<<15)
	o.Flush = cmp.Or(o.Flush, time.Second)
	switch {
	case o.Path == "":
		return nil, errors.New("record: name a file")
	case o.MaxSize < MaxSizeLeast:
		return nil, fmt.Errorf("record: files of %d bytes: must be 1 MiB or more", o.MaxSize)
	case o.Keep < 1 || o.Keep > KeepMost:
		return nil, fmt.Errorf("record: keep %d files: must be from 1 to %d", o.Keep, KeepMost)
	case o.Salt != "" && len(o.Salt) < SaltLeast:
		return nil, fmt.Errorf("record: a salt of %d characters can be guessed: give %d or more, or none", len(o.Salt), SaltLeast)
	case len(o.Classes) > namesMost || len(o.Outcomes) > 256:
		return nil, fmt.Errorf("record: more than %d classes or 256 outcomes", namesMost)
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.create == nil {
		o.create = createFile
	}
	r := &Recorder{
		start: time.Now(), salt: newSalt(o.Salt),
		filling: make([]Request, 0, o.Room),
		classes: slices.Clone(o.Classes),
		wake:    make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	var id [8]byte
	rand.Read(id[:])
	r.disk = disk{recorder: r, options: o, header: Header{
		Version: version, Recording: hex.EncodeToString(id[:]), Start: r.start.UTC(),
		Config: o.Config, Program: o.Program, Salt: r.salt.id(),
		Classes: r.classes, Outcomes: slices.Clone(o.Outcomes),
	}}
	for _, name := range o.Known {
		r.disk.header.Known = append(r.disk.header.Known, r.salt.hash(name))
	}
	go r.run(o.Flush, make([]Request, 0, o.Room))
	return r, nil
}

// Now is the time since the start of the recording, monotonic.
func (r *Recorder) Now() time.Duration {
	if r == nil {
		return 0
	}
	return time.Since(r.start)
}

// Hash returns the salted hash of a tenant's or session's name, of which the
// first 256 bytes count; 0 for the empty one. About 0.1 µs, no allocation.
func (r *Recorder) Hash(name string) uint64 {
	if r == nil {
		return 0
	}
	return r.salt.hash(name)
}

// HashKey is Hash of a name that has become a number already; 0 for 0.
func (r *Recorder) HashKey(key uint64) uint64 {
	if r == nil {
		return 0
	}
	return r.salt.key(key)
}

// Class returns the index of a class, which is added if it is new. It is for
// configurations that change, not for every request.
func (r *Recorder) Class(name string) int32 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.classes, name); i >= 0 {
		return int32(i)
	}
	if len(r.classes) >= namesMost {
		return namesMost - 1
	}
	r.classes = append(r.classes, name)
	return int32(len(r.classes) - 1)
}

// Add records a request, or counts it as dropped if there is no room. It never
// blocks and allocates nothing. The request is on disk after Options.Flush.
func (r *Recorder) Add(q *Request) {
	if r == nil {
		return
	}
	r.mu.Lock()
	n, room := len(r.filling), cap(r.filling)
	if n == room {
		r.mu.Unlock()
		r.lose(1)
		return
	}
	r.filling = append(r.filling, *q)
	r.mu.Unlock()
	if n == room/2 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (r *Recorder) lose(n int64) {
	r.lost.Add(n)
	r.dropped.Add(n)
}

// Stats returns how the recording goes.
func (r *Recorder) Stats() Stats {
	if r == nil {
		return Stats{}
	}
	return Stats{r.written.Load(), r.dropped.Load(), r.bytes.Load(), r.failing.Load()}
}

// Close writes what is held and closes the file. Requests that are added later
// are lost. It returns what kept the last of them from the disk.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.closing.Do(func() { close(r.stop) })
	<-r.done
	return r.disk.err
}

// begins waits until the recording is to begin, and says whether it is.
func (r *Recorder) begins(begin <-chan struct{}) bool {
	if begin == nil {
		return true
	}
	select {
	case <-begin:
		return true
	case <-r.stop:
	}
	select {
	case <-begin: // both: what is held is written
		return true
	default:
		return false
	}
}

// run hands what was added to the disk, with two buffers in turn.
func (r *Recorder) run(every time.Duration, spare []Request) {
	defer close(r.done)
	if !r.begins(r.disk.options.Begin) {
		return
	}
	r.disk.open()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ending := false; !ending; {
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.stop:
			ending = true
		}
		r.mu.Lock()
		spare, r.filling = r.filling, spare[:0]
		if ending {
			r.filling = nil // what comes now finds no room
		}
		classes := r.classes[:len(r.classes):len(r.classes)]
		r.mu.Unlock()
		r.disk.flush(spare, classes)
	}
	r.disk.close()
}
