package record

import (
	"fmt"
	"io"
	"os"
)

// file is what a recording is written to.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// createFile makes a new file that only its owner may read: traffic says enough
// about a business without a name in it.
func createFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// disk turns requests into blocks of files. It gives up on nothing: what fails
// is lost and counted, and the next flush tries again.
type disk struct {
	recorder *Recorder
	options  Options
	header   Header
	file     file // nil before the first and after a failure to make one
	size     int64
	moved    bool // what was at the path has been moved aside
	block    block
	err      error // of the last write; nil after one that succeeded
}

// flush writes the requests as blocks.
func (d *disk) flush(requests []Request, classes []string) {
	added := len(classes) > len(d.header.Classes)
	d.header.Classes = classes
	if d.file == nil && !d.open() {
		d.recorder.lose(int64(len(requests)))
		return
	}
	if added && d.size > 0 {
		d.write(described(kindNames, &Header{Classes: classes}), 0)
	}
	for len(requests) > 0 {
		lost := d.recorder.lost.Swap(0)
		d.block.begin(uint64(lost))
		n := 0
		for ; n < len(requests) && !d.block.full(); n++ {
			d.block.add(&requests[n])
		}
		if !d.write(d.block.end(), n) {
			d.recorder.lost.Add(lost) // they were on the account already
		}
		requests = requests[n:]
	}
}

// write appends a block of n requests, to a new file if the last is full.
func (d *disk) write(block []byte, n int) bool {
	if d.size+int64(len(block)) > d.options.MaxSize {
		d.shut()
	}
	if d.file == nil && !d.open() {
		d.recorder.lose(int64(n))
		return false
	}
	if !d.append(block) {
		d.recorder.lose(int64(n))
		return false
	}
	d.recorder.written.Add(int64(n))
	return true
}

// open makes the next file and writes its header.
func (d *disk) open() bool {
	if !d.moved {
		if err := d.moveAside(); err != nil {
			d.fail(err)
			return false
		}
		d.moved = true
	}
	f, err := d.options.create(d.options.Path)
	if err != nil {
		d.fail(err)
		return false
	}
	d.file, d.size = f, 0
	d.header.Part++
	if d.append(append([]byte(Magic), described(kindHeader, &d.header)...)) {
		return true
	}
	d.header.Part--
	d.file.Close()
	d.file = nil
	return false
}

// append writes whole or cuts back what was written of it. A reader would skip
// the rest of a block, but a disk that is full is not to be filled with them.
func (d *disk) append(data []byte) bool {
	n, err := d.file.Write(data)
	if err != nil {
		if n > 0 && d.file.Truncate(d.size) != nil {
			d.size += int64(n)
		}
		d.fail(err)
		return false
	}
	d.size += int64(n)
	d.recorder.bytes.Add(int64(n))
	if d.err != nil {
		d.err = nil
		d.recorder.failing.Store(false)
		d.options.Warn(fmt.Sprintf("recording again; %d requests were lost", d.recorder.dropped.Load()))
	}
	return true
}

// fail warns of the first failure of a row.
func (d *disk) fail(err error) {
	if d.err == nil {
		d.options.Warn(fmt.Sprintf("recording fails, requests are not recorded until it works: %v", err))
	}
	d.err = err
	d.recorder.failing.Store(true)
}

// moveAside renames Path to Path.1, Path.1 to Path.2 and so on, and removes what
// is one too many. With one file to keep, that is the file itself.
func (d *disk) moveAside() error {
	if _, err := os.Lstat(d.options.Path); os.IsNotExist(err) {
		return nil
	}
	path := func(i int) string {
		if i == 0 {
			return d.options.Path
		}
		return fmt.Sprintf("%s.%d", d.options.Path, i)
	}
	last := d.options.Keep - 1
	if err := os.Remove(path(last)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for i := last - 1; i >= 0; i-- {
		if err := os.Rename(path(i), path(i+1)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// shut ends a file; the next write begins another.
func (d *disk) shut() {
	if d.file != nil {
		d.file.Close()
	}
	d.file, d.size, d.moved = nil, 0, false
}

func (d *disk) close() {
	if d.file == nil {
		return
	}
	err := d.file.Sync()
	if e := d.file.Close(); err == nil {
		err = e
	}
	if d.err == nil {
		d.err = err
	}
	d.file = nil
}
