package record_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/workload/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var outcomes = []string{"none", "served", "queue_full", "timeout"}

func recorder(t testing.TB, o record.Options) (*record.Recorder, string) {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "traffic.rec")
	}
	o.Outcomes = outcomes
	if o.Classes == nil {
		o.Classes = []string{"checkout", "analytics"}
	}
	r, err := record.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, o.Path
}

func readAll(t testing.TB, path string) (all []record.Request, h record.Header, s record.Summary) {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h = *r.Header()
	var q record.Request
	for r.Next(&q) {
		all = append(all, q)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return all, h, r.Stats()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rec, path := recorder(t, record.Options{Config: "f00d", Program: "test", Known: []string{"acme"}})
	acme, sid := rec.Hash("acme"), rec.Hash("s1")
	want := []record.Request{
		{Arrival: 5 * time.Millisecond, Class: 0, Outcome: 1, Service: 100 * time.Millisecond, Tenant: acme, Session: sid, Cost: 3, Bytes: 900, Importance: 2, Allowed: time.Second, Wait: 7},
		{Arrival: 2 * time.Millisecond, Class: 1, Outcome: 2, Cost: 1},
		{Arrival: 9 * time.Millisecond, Class: 0, Outcome: 3, Tenant: acme, Cost: 1},
	}
	for i := range want {
		rec.Add(&want[i])
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	got, h, s := readAll(t, path)
	if !slices.Equal(got, want) {
		t.Errorf("read  %+v\nwrote %+v", got, want)
	}
	if h.Config != "f00d" || h.Program != "test" || h.Class(&got[0]) != "checkout" || h.Outcome(&got[1]) != "queue_full" || !slices.Equal(h.Known, []uint64{acme}) || time.Since(h.Start) > time.Hour {
		t.Errorf("header %+v", h)
	}
	if s.Requests != 3 || s.Lost != 0 || s.Damaged != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestNothingOfTheNames: neither a name nor the salt is in the file.
func TestNothingOfTheNames(t *testing.T) {
	const salt = "sixteen characters or more"
	rec, path := recorder(t, record.Options{Salt: salt, Known: []string{"acme-incorporated"}})
	rec.Add(&record.Request{Tenant: rec.Hash("acme-incorporated"), Session: rec.Hash("session-0815")})
	rec.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"acme", "session", "sixteen"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%q is in the file", secret)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v: others can read it", info.Mode())
	}
}

// TestSalt: equal salts join recordings, and nothing else does.
func TestSalt(t *testing.T) {
	hash := func(salt string) (uint64, string) {
		rec, path := recorder(t, record.Options{Salt: salt})
		h := rec.Hash("acme")
		rec.Close()
		_, header, _ := readAll(t, path)
		return h, header.Salt
	}
	a, ida := hash("a salt of one's own")
	b, idb := hash("a salt of one's own")
	c, idc := hash("")
	d, idd := hash("")
	if a != b || ida != idb {
		t.Error("two recordings of one salt cannot be joined")
	}
	if one, _ := recorder(t, record.Options{}); one.HashKey(0) != 0 || one.HashKey(1) == one.HashKey(2) || one.HashKey(1) == 1 {
		t.Error("keys are not hashed")
	}
	if a == c || c == d || idc == ida || idc == idd {
		t.Error("recordings without a salt of one's own can be joined")
	}
}

// TestTornTail: a crash in the middle of a write costs the block it was in,
// wherever in it that is.
func TestTornTail(t *testing.T) {
	rec, path := recorder(t, record.Options{})
	for i := range 10 {
		rec.Add(&record.Request{Arrival: time.Duration(i)})
	}
	rec.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []int{1, 3, 4, 16, 17, 18, 40} {
		block := whole[bytes.LastIndex(whole, []byte("\xf5BLK")):]
		torn := filepath.Join(t.TempDir(), "torn.rec")
		if err := os.WriteFile(torn, append(bytes.Clone(whole), block[:min(more, len(block)-1)]...), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, s := readAll(t, torn)
		if len(got) != 10 || s.Damaged != 1 || s.First[0].Offset != int64(len(whole)) || !strings.Contains(s.First[0].Reason, "torn tail") {
			t.Errorf("%d bytes of a block more: %d requests, %+v", more, len(got), s)
		}
	}
}

// TestDamageInTheMiddle: a flipped bit costs its block; what follows is read.
func TestDamageInTheMiddle(t *testing.T) {
	rec, path := recorder(t, record.Options{Flush: time.Millisecond})
	for i := range 30_000 {
		rec.Add(&record.Request{Arrival: time.Duration(i), Tenant: uint64(i + 1)})
	}
	rec.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := readAll(t, path)
	if len(all) != 30_000 {
		t.Fatalf("%d requests of the whole file", len(all))
	}
	blocks := bytes.Count(whole, []byte("\xf5BLK"))
	if blocks < 4 {
		t.Fatalf("%d blocks: the test needs several", blocks)
	}
	second := bytes.Index(whole[20:], []byte("\xf5BLKR")) + 20
	for name, flip := range map[string]int{"marker": 0, "kind": 4, "length": 5, "length, far too much": 8, "count": 9, "check": 13, "payload": 100} {
		data := bytes.Clone(whole)
		data[second+flip] ^= 0x11
		damaged := filepath.Join(t.TempDir(), "damaged.rec")
		if err := os.WriteFile(damaged, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, s := readAll(t, damaged)
		if len(got) == 30_000 || len(got) < 10_000 || s.Damaged < 1 || s.First[0].Offset != int64(second) {
			t.Errorf("%s: %d requests, %+v", name, len(got), s)
		}
		if last := got[len(got)-1]; last.Arrival != 29_999 {
			t.Errorf("%s: the last request read is %v, not the last written", name, last.Arrival)
		}
	}
}

// TestRotation: the disk is bounded, and what is kept is read in order.
func TestRotation(t *testing.T) {
	rec, path := recorder(t, record.Options{MaxSize: record.MaxSizeLeast, Keep: 3, Flush: time.Millisecond, Room: 1 << 20})
	const n = 400_000
	for i := range n {
		rec.Add(&record.Request{Arrival: time.Duration(i), Tenant: uint64(i + 1)})
	}
	rec.Close()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, want 3 (%v)", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > record.MaxSizeLeast {
			t.Errorf("%s has %d bytes: more than it may", f, info.Size())
		}
	}
	got, _, s := readAll(t, path)
	if s.Damaged != 0 || len(got) == 0 || got[len(got)-1].Arrival != n-1 {
		t.Fatalf("%d requests, %+v", len(got), s)
	}
	for i := range got[1:] {
		if got[i+1].Arrival != got[i].Arrival+1 {
			t.Fatalf("after %v comes %v", got[i].Arrival, got[i+1].Arrival)
		}
	}
	one, _, _ := readAll(t, path+".1")
	if len(one) == 0 || len(one) >= len(got) {
		t.Errorf("the file before alone has %d requests of %d", len(one), len(got))
	}
}

// TestEarlierRecordingStays: a restart moves what is there aside, and does not
// take it for its own.
func TestEarlierRecordingStays(t *testing.T) {
	first, path := recorder(t, record.Options{})
	first.Add(&record.Request{Arrival: 1})
	first.Close()
	second, _ := recorder(t, record.Options{Path: path})
	second.Add(&record.Request{Arrival: 2})
	second.Close()
	never, _ := recorder(t, record.Options{Path: path, Begin: make(chan struct{})})
	never.Add(&record.Request{Arrival: 3})
	never.Close() // before it has begun: nothing is moved
	now, _, _ := readAll(t, path)
	before, _, _ := readAll(t, path+".1")
	if len(now) != 1 || now[0].Arrival != 2 || len(before) != 1 || before[0].Arrival != 1 {
		t.Errorf("now %+v, before %+v", now, before)
	}
}

// TestClassesAreAdded: a reload may bring a class that the header has not.
func TestClassesAreAdded(t *testing.T) {
	rec, path := recorder(t, record.Options{Flush: time.Millisecond})
	rec.Add(&record.Request{Arrival: 1})
	for rec.Stats().Written == 0 {
		runtime.Gosched() // the writer works on a real disk
	}
	rec.Add(&record.Request{Arrival: 2, Class: rec.Class("reports")})
	if again := rec.Class("reports"); again != 2 {
		t.Errorf("asked again its index is %d", again)
	}
	rec.Close()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	var q record.Request
	for r.Next(&q) {
		names = append(names, r.Header().Class(&q))
	}
	if !slices.Equal(names, []string{"checkout", "reports"}) {
		t.Errorf("classes %q", names)
	}
}

// TestFullRoom: what does not fit is dropped and counted, here and in the file.
func TestFullRoom(t *testing.T) {
	rec, path := recorder(t, record.Options{Room: 4, Flush: time.Hour})
	for i := range 100 {
		rec.Add(&record.Request{Arrival: time.Duration(i)})
	}
	rec.Close()
	rec.Add(&record.Request{})
	s := rec.Stats()
	got, _, read := readAll(t, path)
	if s.Written+s.Dropped != 101 || s.Dropped == 0 || int64(len(got)) != s.Written || read.Lost != s.Dropped-1 {
		t.Errorf("%+v; read %d, said to be lost %d", s, len(got), read.Lost)
	}
}

func TestGzip(t *testing.T) {
	rec, path := recorder(t, record.Options{})
	rec.Add(&record.Request{Arrival: 3})
	rec.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	if err := os.WriteFile(path+".gz", b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := readAll(t, path+".gz"); len(got) != 1 || got[0].Arrival != 3 {
		t.Errorf("read %+v", got)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    record.Options
		says string
	}{
		{record.Options{}, "name a file"},
		{record.Options{Path: "x", MaxSize: 5}, "files of 5 bytes: must be 1 MiB or more"},
		{record.Options{Path: "x", Keep: -1}, "keep -1 files: must be from 1 to 1000"},
		{record.Options{Path: "x", Salt: "short"}, "a salt of 5 characters can be guessed: give 16 or more, or none"},
	} {
		if _, err := record.New(c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.says)
		}
	}
}

// TestNil: a gateway that records nothing asks a nil recorder.
func TestNil(t *testing.T) {
	var r *record.Recorder
	r.Add(&record.Request{})
	if r.Hash("x") != 0 || r.HashKey(1) != 0 || r.Class("x") != 0 || r.Now() != 0 || r.Stats() != (record.Stats{}) || r.Close() != nil {
		t.Error("a nil recorder does something")
	}
}

// TestAnyRequest: whatever is recorded is read as it was.
func TestAnyRequest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.Custom(func(rt *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<60).Draw(rt, "ns"))
		})
		want := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) record.Request {
			return record.Request{
				Arrival: length.Draw(rt, "arrival"), Wait: length.Draw(rt, "wait"), Service: length.Draw(rt, "service"), Allowed: length.Draw(rt, "allowed"),
				Tenant: rapid.SampledFrom([]uint64{0, 1, 2, 1 << 63}).Draw(rt, "tenant"), Session: rapid.Uint64().Draw(rt, "session"),
				Cost: rapid.Int64Range(1, 1<<60).Draw(rt, "cost"), Bytes: rapid.Int64Range(0, 1<<60).Draw(rt, "bytes"),
				Class: rapid.Int32Range(0, 1).Draw(rt, "class"), Importance: rapid.Int32Range(0, 1<<30).Draw(rt, "importance"), Outcome: rapid.Byte().Draw(rt, "outcome"),
			}
		}), 0, 50).Draw(rt, "requests")
		rec, path := recorder(t, record.Options{})
		for i := range want {
			rec.Add(&want[i])
		}
		rec.Close()
		if got, _, _ := readAll(t, path); !slices.Equal(got, want) {
			rt.Fatalf("read  %+v\nwrote %+v", got, want)
		}
	})
}

// FuzzReader: no bytes make it panic, hang or grow.
func FuzzReader(f *testing.F) {
	rec, path := recorder(f, record.Options{})
	for i := range 20 {
		rec.Add(&record.Request{Arrival: time.Duration(i), Tenant: uint64(i % 3), Service: 5})
	}
	rec.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(append(bytes.Clone(whole), whole[8:]...))
	f.Add([]byte("SPILLREC"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := record.NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		var q record.Request
		n := 0
		for r.Next(&q) {
			if q.Arrival < 0 || q.Service < 0 || q.Wait < 0 || q.Cost < 0 || q.Bytes < 0 || q.Class < 0 {
				t.Fatalf("read %+v", q)
			}
			if n++; n > len(data) {
				t.Fatal("more requests than bytes")
			}
		}
	})
}
