package lab

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
)

// Format is the version of the raw records.
const Format = "spillway-lab-raw 1"

// Columns of the raw records. Kind is r for an attempt that was answered, w for
// a stretch of work (started_ns to ended_ns; flag 1: wasted, 2: unfinished) k
// for a retry recognised by its key, and b for a producer who was held up before
// a room (started_ns to ended_ns). Flag of an attempt: 1 where it got a slot.
const Columns = "kind,stream,number,attempt,class,tenant,importance,cost,bytes,scheduled_ns,arrived_ns,started_ns,ended_ns,deadline_ns,reason,retry_after_ns,flag"

// Plan is what is fixed before the first round.
type Plan struct {
	Format      string       `json:"format"`
	Lab         string       `json:"lab"`
	Seed        uint64       `json:"seed"`
	Version     string       `json:"version"`
	Command     string       `json:"command"`
	Arms        []PlannedArm `json:"arms"`
	Predictions []Prediction `json:"predictions"`
}

// PlannedArm is an arm with its settings, whatever the lab needs to play it.
type PlannedArm struct {
	Name     string `json:"name"`
	Settings any    `json:"settings"`
}

// Kept says what a file of records holds.
type Kept struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of the text, uncompressed
}

// A Recorder keeps a run's raw records in a folder. A nil Recorder keeps
// nothing, and costs nothing.
type Recorder struct {
	dir  string
	lab  string
	hash string // of plan.json
	kept map[string]Kept
}

// NewRecorder makes the folder, which must be empty or not exist yet, and
// writes the plan into it.
func NewRecorder(dir string, plan Plan) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("raw records: %w", err)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		if err == nil {
			err = fmt.Errorf("%s is not empty; name a new folder, records are never written over", dir)
		}
		return nil, fmt.Errorf("raw records: %w", err)
	}
	plan.Format = Format
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("raw records: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), text, 0o644); err != nil {
		return nil, fmt.Errorf("raw records: %w", err)
	}
	sum := sha256.Sum256(text)
	return &Recorder{dir: dir, lab: plan.Lab, hash: hex.EncodeToString(sum[:]), kept: map[string]Kept{}}, nil
}

// PlanSHA256 is the hash of the plan; empty without a recorder.
func (r *Recorder) PlanSHA256() string {
	if r == nil {
		return ""
	}
	return r.hash
}

// Kept says what was kept of each arm.
func (r *Recorder) Kept() map[string]Kept {
	if r == nil {
		return map[string]Kept{}
	}
	return r.kept
}

// Results writes the results beside the records.
func (r *Recorder) Results(document any) (err error) {
	if r == nil {
		return nil
	}
	f, err := os.Create(filepath.Join(r.dir, "results.json"))
	if err != nil {
		return fmt.Errorf("raw records: %w", err)
	}
	err = report.WriteJSON(f, document)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("raw records: %w", err)
	}
	return nil
}

// Arm is the file of one arm's records; nil keeps nothing.
type Arm struct {
	recorder *Recorder
	name     string
	file     *os.File
	zip      *gzip.Writer
	text     *bufio.Writer
	sum      hash.Hash
	line     []byte
	rows     int64
	err      error
}

// Arm opens the file of an arm.
func (r *Recorder) Arm(name string) (*Arm, error) {
	if r == nil {
		return nil, nil
	}
	file, err := os.Create(filepath.Join(r.dir, name+".csv.gz"))
	if err != nil {
		return nil, fmt.Errorf("raw records: %w", err)
	}
	a := &Arm{recorder: r, name: name, file: file, zip: gzip.NewWriter(file), sum: sha256.New()}
	a.text = bufio.NewWriterSize(io.MultiWriter(a.zip, a.sum), 1<<16)
	_, a.err = fmt.Fprintf(a.text, "# %s lab=%s arm=%s plan=sha256:%s\n%s\n", Format, r.lab, name, r.hash, Columns)
	return a, nil
}

// Record keeps an attempt.
func (a *Arm) Record(r *sim.Record) {
	if a == nil {
		return
	}
	started, flag := unit.Instant(-1), int64(0)
	if r.HasStarted {
		started, flag = r.Started, 1
	}
	a.row("r", int64(r.Stream), r.Number, int64(r.Attempt), r.Class, r.Tenant, int64(r.Importance), r.Cost, r.Bytes,
		r.Scheduled, r.Arrived, started, r.Answered, r.Deadline, r.Reason, int64(r.RetryAfter), flag)
}

// Work keeps a stretch of work.
func (a *Arm) Work(w *sim.Work) {
	if a == nil {
		return
	}
	flag := int64(0)
	if w.Wasted {
		flag |= 1
	}
	if w.Unfinished {
		flag |= 2
	}
	a.row("w", int64(w.Stream), w.Number, int64(w.Attempt), w.Resource, "", 0, 0, 0, -1, -1, w.Begun, w.Ended, -1, reason.None, 0, flag)
}

// Recognised keeps a retry that carried the key of work already offered.
func (a *Arm) Recognised(number int64, tenant string) {
	if a == nil {
		return
	}
	a.row("k", 0, number, 1, "", tenant, 0, 0, 0, -1, -1, -1, -1, -1, reason.None, 0, 0)
}

func (a *Arm) row(kind string, stream, number, attempt int64, class, tenant string, importance, cost, bytes int64,
	scheduled, arrived, started, ended, deadline unit.Instant, why reason.Reason, retryAfter, flag int64) {
	b := append(a.line[:0], kind...)
	for _, n := range [...]int64{stream, number, attempt} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	b = append(append(append(append(b, ','), word(class)...), ','), word(tenant)...)
	for _, n := range [...]int64{importance, cost, bytes, int64(scheduled), int64(arrived), int64(started), int64(ended), int64(deadline)} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	b = append(append(b, ','), why.String()...)
	for _, n := range [...]int64{retryAfter, flag} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	a.line = append(b, '\n')
	a.rows++
	if a.err == nil {
		_, a.err = a.text.Write(a.line)
	}
}

// word keeps a name from breaking a row; labs name their own classes and
// tenants, so that none does.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || r == '\n' || r == '\r' || r == '"' {
			return '_'
		}
		return r
	}, name)
}

// Close ends the file and returns the first error met since it was opened.
func (a *Arm) Close() error {
	if a == nil {
		return nil
	}
	for _, end := range []func() error{a.text.Flush, a.zip.Close, a.file.Close} {
		if err := end(); a.err == nil {
			a.err = err
		}
	}
	if a.err != nil {
		return fmt.Errorf("raw records of %s: %w", a.name, a.err)
	}
	a.recorder.kept[a.name] = Kept{Rows: a.rows, SHA256: hex.EncodeToString(a.sum.Sum(nil))}
	return nil
}

// Blocked keeps how long a producer was held up before a stage's room.
func (a *Arm) Blocked(stage string, number int64, from, until unit.Instant) {
	if a == nil {
		return
	}
	a.row("b", 0, number, 0, stage, "", 0, 0, 0, -1, -1, from, until, -1, reason.None, 0, 0)
}
