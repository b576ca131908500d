package pool

// A retry is worth less than a first try: its caller has had an answer once,
// has decided by itself to ask again, and may not even wait for it any more;
// and when retries crowd out first tries, more and more of what is offered is
// retries until next to nothing is served (Bronson et al., "Metastable Failures
// in Distributed Systems", HotOS 2021). With Config.RetriesLast
//
//	level = 2 x importance         a first try
//	level = 2 x importance + 1     a retry
//
// so that among equals retries go last and are displaced first, and never
// before anybody who is less important. And they wait in half of the room only:
// what comes to a room that is half full is a queue of retries if its rule is to
// reject, and first tries are to find a place in it.

// levels is how many levels there are in the room.
func (c *Config) levels() int {
	n := min(max(c.Levels, 1), LevelsMax)
	if c.RetriesLast {
		n *= 2
	}
	return n
}

// Level returns the level that a request's importance counts as.
func (r *Room) Level(importance int, retry bool) uint8 {
	if !r.halves {
		return uint8(min(max(importance, 0), len(r.levels)-1))
	}
	level := 2 * min(max(importance, 0), len(r.levels)/2-1)
	if retry {
		level++
	}
	return uint8(level)
}

// Importance returns the importance of those at a level.
func (r *Room) Importance(level uint8) int {
	if r.halves {
		level /= 2
	}
	return min(int(level), len(r.levels)-1) // of one that runs, there may have been more
}

// FullForRetries reports whether the room has no place for a retry, whatever
// it has for others.
func (r *Room) FullForRetries() bool {
	return r.halves && r.waiting >= (r.bound+1)/2
}

// relevel takes the configuration's levels over and returns what becomes of the
// old ones. Who waits as a retry is a first try where none are told apart any
// more.
func (p *Pool) relevel() func(uint8) uint8 {
	was := p.Room
	p.halves = p.cfg.RetriesLast
	p.Room.levels = make([]list, p.cfg.levels())
	return func(level uint8) uint8 {
		return p.Level(was.Importance(level), was.halves && level%2 == 1)
	}
}
