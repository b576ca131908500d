package gap

import "github.com/spillway-dev/spillway/policy/chance"

// saltSample keeps who is compared apart from who is in any other share.
const saltSample chance.Salt = 0x73_61_6d_70_6c_65 // "sample"

// Sampled reports whether the nth request that the primary served is put to the
// cheaper rung as well; share is in millionths of all. Safe for concurrent use.
func Sampled(seed, n uint64, share int) bool {
	return share > 0 && chance.Place(saltSample+chance.Salt(seed), n) < share
}

// Load is how busy a pool is.
type Load struct {
	// Slots is how many it can have now; 0: what it does needs none.
	Slots int
	// Used is how many are held, abandoned work included.
	Used int
	// Waiting is how many wait for one, or are held back before they may.
	Waiting int
}

// Spare reports whether there is capacity to put one more request to the cheaper
// rung, of which running are at most most now: learning must not be what fills a
// pool. In both pools nobody waits, and less than half of the slots are held. What
// answers from memory has no pool of its own, but the class that is learned of must
// be at ease all the same: the work of comparing is done beside its own.
func Spare(class, rung Load, running, most int) bool {
	return running < most && class.atEase() && rung.atEase()
}

func (l Load) atEase() bool { return l.Waiting == 0 && (l.Slots == 0 || 2*l.Used < l.Slots) }
