package verify

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// row is one line of the raw records.
type row struct {
	kind                    string
	stream, number, attempt int64
	class, tenant           string
	cost, importance, bytes int64
	scheduled               int64
	arrived, started, ended int64
	deadline                int64
	reason                  string
	flag                    int64
}

const (
	format      = "spillway-lab-raw 1"
	columns     = "kind,stream,number,attempt,class,tenant,importance,cost,bytes,scheduled_ns,arrived_ns,started_ns,ended_ns,deadline_ns,reason,retry_after_ns,flag"
	columnCount = 17
	rowsMax     = 50_000_000
	jsonMax     = 256 << 20 // bytes of plan.json and results.json
)

// armFile is what a file of records says.
type armFile struct {
	rows   []row
	sha256 string // of its text
	header string
}

var armName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

func readArm(dir, arm string) (*armFile, error) {
	if !armName.MatchString(arm) {
		return nil, fmt.Errorf("arm %q: not a name of an arm", arm)
	}
	f, err := os.Open(filepath.Join(dir, arm+".csv.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s.csv.gz: %w", arm, err)
	}
	return parseArm(arm, zip)
}

// parseArm reads the text of an arm's records.
func parseArm(arm string, text io.Reader) (*armFile, error) {
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(text, sum))
	lines.Buffer(nil, 1<<16)
	out := &armFile{}
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch n {
		case 1:
			out.header = line
		case 2:
			if line != columns {
				return nil, fmt.Errorf("%s.csv.gz:2: the columns are %q, not those of %s", arm, line, format)
			}
		default:
			r, err := parseRow(line)
			if err != nil {
				return nil, fmt.Errorf("%s.csv.gz:%d: %w", arm, n, err)
			}
			if len(out.rows) == rowsMax {
				return nil, fmt.Errorf("%s.csv.gz: more than %d rows", arm, rowsMax)
			}
			out.rows = append(out.rows, r)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s.csv.gz: %w", arm, err)
	}
	out.sha256 = hex.EncodeToString(sum.Sum(nil))
	return out, nil
}

func parseRow(line string) (row, error) {
	cells := strings.Split(line, ",")
	if len(cells) != columnCount {
		return row{}, fmt.Errorf("%d cells; there are %d columns", len(cells), columnCount)
	}
	var fault error
	number := func(i int) int64 {
		n, err := strconv.ParseInt(cells[i], 10, 64)
		if err != nil && fault == nil {
			fault = fmt.Errorf("column %d is %q; it must be a whole number", i+1, cells[i])
		}
		return n
	}
	r := row{
		kind: cells[0], stream: number(1), number: number(2), attempt: number(3), class: cells[4], tenant: cells[5], importance: number(6), cost: number(7), bytes: number(8),
		scheduled: number(9), arrived: number(10), started: number(11), ended: number(12), deadline: number(13), reason: cells[14], flag: number(16),
	}
	if !strings.Contains("rwkbqlt", r.kind) || len(r.kind) != 1 {
		return row{}, fmt.Errorf("kind %q; it is one of r, w, k, b, q, l, t", r.kind)
	}
	return r, fault
}

func readJSON(path string, into any) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, jsonMax+1))
	if err != nil {
		return nil, err
	}
	if len(text) > jsonMax {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, jsonMax)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
