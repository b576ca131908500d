package house

import "strings"

// A Room is one row of the table of the house.
type Room struct {
	// Path is the folder of the room, relative to the module. A trailing /...
	// takes in everything below that has no row of its own.
	Path string
	// For says in one line what the room is for.
	For string
	// MayImport lists what the room may import of this module, as paths that
	// may end in /... . A room may always import what lies inside itself.
	MayImport []string
	// Strict lists the rules of purity that hold for the room's code. Tests are
	// exempt.
	Strict Strictness
}

// Strictness says which rules of purity hold in a room.
type Strictness int

const (
	// Free rooms may use clocks, goroutines, chance and I/O.
	Free Strictness = iota
	// Repeatable rooms give the same bytes for the same seed on every machine:
	// no clock, no global chance, no inexact math, no order of a map.
	Repeatable
	// Pure rooms are repeatable and compute only: no goroutine, lock, channel,
	// context, I/O or package state.
	Pure
)

// String names the strictness as the table in docs/house.md does.
func (s Strictness) String() string {
	return [...]string{"free", "repeatable", "pure"}[s]
}

// Rooms is the house, from the inside out. Data flows down and never back up:
// an arrow that is not in this table does not exist.
func Rooms() []Room {
	leaves := []string{
		"policy/unit", "policy/reason", "policy/chance", "policy/agenda", "policy/estimate", "policy/tally",
	}
	with := func(more ...string) []string { return append(append([]string{}, leaves...), more...) }

	return []Room{
		{"policy", "what the core is, in words", nil, Pure},
		{"policy/unit", "named integer units", nil, Pure},
		{"policy/reason", "the closed set of reasons", nil, Pure},
		{"policy/chance", "the one seeded source of chance", []string{"policy/unit"}, Pure},
		{"policy/agenda", "what is due when, in a total order", []string{"policy/unit"}, Pure},
		{"policy/estimate", "measurements turned into figures", []string{"policy/unit"}, Pure},
		{"policy/tally", "the account that always closes", []string{"policy/unit", "policy/reason"}, Pure},
		{"policy/plan", "arithmetic: bounds, Little's law, amplification", leaves, Pure},
		{"policy/fair", "which tenant next", leaves, Pure},
		{"policy/limit", "how many slots", leaves, Pure},
		{"policy/shed", "who gets a cheaper rung", leaves, Pure},
		{"policy/scale", "how much capacity what is offered would take", leaves, Pure},
		{"policy/gap", "how much worse a cheaper answer is: given, looked up, learned", with("policy/shed"), Pure},
		{"policy/call", "timeouts, retries, hedges, breaker", leaves, Pure},
		{"policy/ladder", "which cheaper answer, under which name and reason", leaves, Pure},
		{"policy/quota", "what may be spent per time", leaves, Pure},
		{"policy/job", "what becomes of work that was accepted, and of its key", with("policy/call"), Pure},
		{"policy/heed", "what a service says of its own limits and pauses, heeded", with("policy/quota"), Pure},
		{"policy/rate", "what one caller may ask at the edge", leaves, Pure},
		{"policy/spread", "which copy of an upstream, and which is out", leaves, Pure},
		{"policy/pool", "slots and the waiting room", with("policy/plan", "policy/fair", "policy/limit", "policy/quota"), Pure},
		{"policy/boundary", "a request's whole way as one machine", []string{"policy/..."}, Pure},

		{"workload/...", "arrivals and service times", nil, Repeatable},
		{"workload/record", "the recorded trace, written and read", nil, Free},
		{"report/...", "the traffic report, its fields and pages", []string{"policy/reason"}, Free},
		{"sim/...", "policy made virtual", []string{"policy/...", "workload/...", "report/..."}, Repeatable},
		{"internal/dbfile", "SQLite files of our own, opened and looked over", nil, Free},
		{"gate/...", "policy made live", []string{"policy/..."}, Free},
		{"gate/standin/onfile", "stand-ins kept in a SQLite file", []string{"gate/standin", "internal/dbfile"}, Free},
		{"ledger/...", "what was promised, kept: reservations on a store", []string{"policy/...", "internal/dbfile"}, Free},
		{"trust/...", "who a caller is, and what it may claim", []string{"policy/..."}, Free},
		{"expr/...", "expressions over a request, compiled and bounded", nil, Free},
		{"provider/...", "what a call costs before and after, by the language its service speaks", []string{"expr", "policy/..."}, Free},
		{"config/...", "the file format", []string{"expr"}, Free},
		{"config/assemble", "config turned into policy values, the one place", []string{"config/...", "expr", "policy/...", "trust/..."}, Free},
		{"load/...", "open-loop load generator", []string{"workload/...", "report/...", "policy/reason", "policy/call"}, Free},
		{"observe/...", "metrics, traces, events", []string{"policy/..."}, Free},
		{"gateway/...", "the reverse proxy", []string{
			"config/...", "expr", "gate/...", "ledger/...", "observe/...", "policy/...", "provider/...", "trust/...", "workload/record",
		}, Free},
		{"lab/...", "the experiments", []string{"sim/...", "trial/...", "workload/...", "report/...", "policy/...", "config/..."}, Free},
		{"lab/parts", "real processes of a live round, and what is known of the machine", []string{"report", "policy/unit"}, Free},
		{"lab/fallback/live", "a round of lab fallback with real processes", []string{
			"gate/caller", "gate/standin", "lab/parts", "load", "sim/store", "report", "policy/...",
		}, Free},
		{"lab/strip/live", "a round of lab strip with real processes", []string{
			"config/...", "gateway/...", "lab/parts", "load", "report", "workload/...",
		}, Free},
		{"lab/fallback/ap/shop", "the purchases of a shop that does not exist", []string{"workload/...", "lab/fallback/ap/purchases"}, Repeatable},
		{"lab/verify", "every figure of a lab again, sharing nothing with it", nil, Free},
		{"trial/...", "a configuration tried in virtual time", []string{"config/...", "expr", "sim/...", "workload/...", "report/..."}, Free},
		{"demo/...", "spillway shown in under a minute", []string{
			"config/...", "gateway/...", "load/...", "trial/...", "workload/...", "report/...",
		}, Free},
		{"cmd/...", "the command", []string{
			"policy/...", "workload/...", "report/...", "sim/...", "gate/...", "config/...",
			"ledger/...", "load/...", "observe/...", "gateway/...", "lab/...", "trial/...", "demo/...", "trust/...",
		}, Free},

		{"examples/...", "small programs that show the library", []string{"gate/...", "policy/..."}, Free},

		{"test/need", "what a test needs from the machine", nil, Free},
		{"test/house", "these rules", nil, Free},
		{"test/summary", "the closing lines of a test run", nil, Free},
		{"test/...", "tests that span rooms", []string{
			"policy/...", "workload/...", "report/...", "sim/...", "gate/...", "config/...",
			"load/...", "observe/...", "provider/...", "gateway/...", "lab/...", "trial/...", "demo/...", "trust/...", "test/...",
		}, Free},
	}
}

// RoomOf returns the row that the package in dir belongs to: the row with
// exactly that path, else the longest /... row that contains it.
func RoomOf(dir string) (Room, bool) {
	var best Room
	var found bool
	for _, room := range Rooms() {
		if room.Path == dir {
			return room, true
		}
		if strings.HasSuffix(room.Path, "/...") && within(dir, room.Path) && len(room.Path) > len(best.Path) {
			best, found = room, true
		}
	}
	return best, found
}

// Allows reports whether code in room may import the package in dir. Tests may
// besides import what lies in test/.
func (r Room) Allows(dir string, fromTest bool) bool {
	if within(dir, r.Path) || fromTest && within(dir, "test/...") {
		return true
	}
	for _, pattern := range r.MayImport {
		if within(dir, pattern) {
			return true
		}
	}
	return false
}

// within reports whether dir is matched by pattern, a path or path/... .
func within(dir, pattern string) bool {
	base, deep := strings.CutSuffix(pattern, "/...")
	return dir == base || deep && strings.HasPrefix(dir, base+"/")
}
