package onfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gate/standin"
	"github.com/spillway-dev/spillway/internal/dbfile"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("SPILLWAY_TEST_WRITER"); path != "" {
		writeForEver(path)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, path string, o Options) *File {
	t.Helper()
	f, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// never is an Every at which nothing is written by itself while a test lasts.
var never = Options{Every: time.Minute}

func store(t testing.TB, f *File, name string, l standin.Limits) *standin.Store[int] {
	t.Helper()
	s := standin.New(standin.Options[int]{Limits: l, Journal: true})
	if err := Keep(f, name, s, JSON[int]()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARestartBeginsWithWhatWasKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	f, err := Open(path, never)
	if err != nil {
		t.Fatal(err)
	}
	a, b := store(t, f, "a", standin.Limits{}), store(t, f, "b", standin.Limits{})
	a.Put("k", 1)
	a.Put("k", 2)
	a.PutAged("old", 3, time.Hour)
	a.Put("deleted", 4)
	b.Put("k", 5)
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	a.Delete("deleted")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	a.Put("late", 6) // a closed file: memory alone

	f = open(t, path, never)
	again := store(t, f, "a", standin.Limits{Age: 2 * time.Hour})
	for key, want := range map[string]int{"k": 2, "old": 3, "deleted": 0, "late": 0} {
		if v, age, ok := again.Get(key); v != want || ok != (want != 0) || key == "old" && age < time.Hour {
			t.Errorf("%s is %d, %v old, %v; want %d", key, v, age, ok, want)
		}
	}
	if v, _, _ := store(t, f, "b", standin.Limits{}).Get("k"); v != 5 {
		t.Errorf("the other store's is %d", v)
	}
	if n := store(t, f, "a", standin.Limits{Age: time.Minute}).Stats().Entries; n != 1 {
		t.Errorf("with a shorter age limit %d entries are read, want 1", n)
	}
}

// As two processes do while one takes over from the other.
func TestTwoMayHaveItOpenAndTheNewerWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	f, g := open(t, path, never), open(t, path, never)
	before, after := store(t, f, "a", standin.Limits{}), store(t, g, "a", standin.Limits{})
	after.Put("k", 2)
	if err := g.Flush(); err != nil {
		t.Fatal(err)
	}
	before.PutAged("k", 1, time.Minute)
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := store(t, g, "a", standin.Limits{}).Get("k"); v != 2 {
		t.Errorf("the older one, %d, has replaced it", v)
	}
}

func TestTheFileIsBoundedAsTheStoreIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	f := open(t, path, never)
	s := store(t, f, "a", standin.Limits{Entries: 100})
	for i := range 2000 {
		s.Put(strconv.Itoa(i), i)
		if i%10 == 9 {
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := dbfile.Number(f.db, "SELECT count(*) FROM entries"); n > 125 || n < 90 || err != nil {
		t.Errorf("%d entries on file of a store of 100, %v", n, err)
	}
}

// What a file says is input. None of it is believed.
func TestWhatIsNotOursIsRefusedAndLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	make := func(name, sql string) string {
		path := filepath.Join(dir, name)
		db, err := sqlite3.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Exec(sql); err != nil {
			t.Fatal(err)
		}
		db.Close()
		return path
	}
	text := filepath.Join(dir, "text")
	os.WriteFile(text, []byte(strings.Repeat("not a database at all\n", 100)), 0o600)

	damaged := filepath.Join(dir, "damaged.db")
	f, err := Open(damaged, never)
	if err != nil {
		t.Fatal(err)
	}
	s := store(t, f, "a", standin.Limits{})
	for i := range 3000 {
		s.Put(strconv.Itoa(i), i)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	bytes, _ := os.ReadFile(damaged)
	for i := 4096; i+2 < len(bytes); i += 4096 { // the number of cells of every page but the first
		binary.BigEndian.PutUint16(bytes[i+3:], 0x7fff)
	}
	os.WriteFile(damaged, bytes, 0o600)

	for path, want := range map[string]string{
		text:    "is no SQLite database; name another file",
		damaged: "is damaged; remove it",
		make("foreign.db", "CREATE TABLE users (name TEXT)"):                                          "is the database of another program; name a file of its own",
		make("marked.db", "PRAGMA application_id = 7; CREATE TABLE t (a)"):                            "is the database of another program",
		make("newer.db", fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 9", kind.ID)): "is of version 9, and this program knows 1",
		filepath.Join(dir, "no", "such", "folder", "f.db"):                                            "cannot be opened",
	} {
		before, _ := os.ReadFile(path)
		f, err := Open(path, never)
		if err == nil {
			f.Close()
			t.Errorf("%s is taken, want an error with %q", filepath.Base(path), want)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one with %q", filepath.Base(path), err, want)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was written to", filepath.Base(path))
		}
	}
}

func TestEntriesThatMakeNoSenseAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	f := open(t, path, never)
	future := time.Now().Add(time.Hour).UnixNano()
	err := f.db.Exec(fmt.Sprintf(`INSERT INTO entries VALUES ('a', 'good', 1, '7'), ('a', 'bad', 2, 'no number'), ('a', 'future', %d, '8')`, future))
	if err != nil {
		t.Fatal(err)
	}
	s := store(t, f, "a", standin.Limits{})
	if v, _, _ := s.Get("good"); v != 7 || s.Stats().Entries != 1 {
		t.Errorf("good is %d, of %+v", v, s.Stats())
	}
}

// A process is killed (SIGKILL) in the middle of writing. All that it said was written
// is there, and the file is sound.
func TestKilledItLosesOnlyItsLastMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), "SPILLWAY_TEST_WRITER="+path)
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	flushed := 0
	for lines := bufio.NewScanner(out); flushed < 20 && lines.Scan(); {
		flushed, _ = strconv.Atoi(lines.Text())
	}
	self.Process.Kill()
	self.Wait()
	if flushed < 20 {
		t.Fatal("the writer ended by itself")
	}
	f := open(t, path, never)
	s := store(t, f, "a", standin.Limits{})
	for i := range flushed + 1 {
		if v, _, ok := s.Get(strconv.Itoa(i)); !ok || v != i {
			t.Errorf("%d, of %d that were written, is %d (%v)", i, flushed, v, ok)
		}
	}
}

// writeForEver puts a key after the other and says how far the file is.
func writeForEver(path string) {
	f, err := Open(path, never)
	if err != nil {
		panic(err)
	}
	s := standin.New(standin.Options[int]{Journal: true})
	if err := Keep(f, "a", s, JSON[int]()); err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		s.Put(strconv.Itoa(i), i)
		if err := f.Flush(); err != nil {
			panic(err)
		}
		fmt.Println(i)
	}
}

func TestWritingIsBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standins.db")
	f := open(t, path, Options{Every: 10 * time.Millisecond})
	store(t, f, "a", standin.Limits{}).Put("k", 1)
	g := open(t, path, never)
	for deadline := time.Now().Add(20 * time.Second); ; {
		if n, err := dbfile.Number(g.db, "SELECT count(*) FROM entries"); err != nil {
			t.Fatal(err)
		} else if n == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was written")
		}
	}
}
