package report

// Series is the course of a class: one entry a bucket of time in every column.
// Counts are of what happened in the bucket, whenever the request had arrived.
type Series struct {
	BucketS  Number   `json:"bucket_s"` // width
	TS       []Number `json:"t_s"`      // start of the bucket
	Offered  []int64  `json:"offered"`
	Answered Columns  `json:"answered"` // by rung
	Refused  Columns  `json:"refused"`  // by reason, answered by no rung
	// Waiting and Running at the end of the bucket; QueueDepth is the most that
	// an arrival found waiting before it, or the end of the bucket.
	Waiting    []int64 `json:"waiting"`
	Running    []int64 `json:"running"`
	QueueDepth []int64 `json:"queue_depth"`
	// Queue wait of the requests started in the bucket, known to 3 %.
	QueueWaitP50Ms []Number `json:"queue_wait_p50_ms"`
	QueueWaitP99Ms []Number `json:"queue_wait_p99_ms"`
	// CapacityPerS is what the class can serve in full; null where unknown.
	CapacityPerS []Number `json:"capacity_per_s"`
}

func (cl *Class) export() *Series {
	n := len(cl.buckets)
	s := &Series{
		BucketS: Number(float64(cl.c.width) / 1e9), TS: make([]Number, n),
		Offered: make([]int64, n), Waiting: make([]int64, n), Running: make([]int64, n), QueueDepth: make([]int64, n),
		QueueWaitP50Ms: make([]Number, n), QueueWaitP99Ms: make([]Number, n), CapacityPerS: make([]Number, n),
		Answered: Columns{}, Refused: Columns{},
	}
	var waiting, running int64
	capacity := None()
	for i := range cl.buckets {
		b := &cl.buckets[i]
		waiting += b.offered - b.started - b.endedWaiting
		running += b.started - b.endedRunning
		if b.capacity > 0 {
			capacity = Number(b.capacity)
		}
		s.TS[i] = Number(float64(int64(i)*cl.c.width) / 1e9)
		s.Offered[i], s.Waiting[i], s.Running[i], s.QueueDepth[i] = b.offered, waiting, running, max(b.depth, waiting)
		s.QueueWaitP50Ms[i], s.QueueWaitP99Ms[i], s.CapacityPerS[i] = b.waits.at(0.5), b.waits.at(0.99), capacity
		for j, count := range b.answered {
			s.Answered.put(cl.c.rungs, j, i, n, int64(count))
		}
		for j, count := range b.refused {
			s.Refused.put(cl.c.reasons, j, i, n, int64(count))
		}
	}
	return s
}

// put writes a count into the column names[j], which is made with the first
// count that is not zero.
func (c Columns) put(names []string, j, i, n int, count int64) {
	if count == 0 {
		return
	}
	if c[names[j]] == nil {
		c[names[j]] = make([]int64, n)
	}
	c[names[j]][i] += count
}

// Total adds the courses of all classes up, for the river of the whole run.
// Queue waits do not add up: the largest of the classes' is taken. A capacity
// that is unknown for one class is unknown for the sum.
func (s SeriesByClass) Total() *Series {
	sum := &Series{Answered: Columns{}, Refused: Columns{}}
	for _, name := range s.Names() {
		if one := s[name]; len(one.TS) > len(sum.TS) {
			sum.TS, sum.BucketS = one.TS, one.BucketS
		}
	}
	n := len(sum.TS)
	for i, name := range s.Names() {
		one := s[name]
		addInts(&sum.Offered, one.Offered, n)
		addInts(&sum.Waiting, one.Waiting, n)
		addInts(&sum.Running, one.Running, n)
		addInts(&sum.QueueDepth, one.QueueDepth, n)
		for rung, column := range one.Answered {
			add := sum.Answered[rung]
			addInts(&add, column, n)
			sum.Answered[rung] = add
		}
		for reason, column := range one.Refused {
			add := sum.Refused[reason]
			addInts(&add, column, n)
			sum.Refused[reason] = add
		}
		worst(&sum.QueueWaitP50Ms, one.QueueWaitP50Ms, n)
		worst(&sum.QueueWaitP99Ms, one.QueueWaitP99Ms, n)
		addCapacity(&sum.CapacityPerS, one.CapacityPerS, n, i == 0)
	}
	return sum
}

func addInts(sum *[]int64, column []int64, n int) {
	if *sum == nil {
		*sum = make([]int64, n)
	}
	for i, v := range column {
		(*sum)[i] += v
	}
}

func worst(sum *[]Number, column []Number, n int) {
	fill(sum, n)
	for i, v := range column {
		if v.Known() && !((*sum)[i] >= v) {
			(*sum)[i] = v
		}
	}
}

func addCapacity(sum *[]Number, column []Number, n int, first bool) {
	fill(sum, n)
	last := None()
	for i := range n {
		if i < len(column) {
			last = column[i]
		}
		if first {
			(*sum)[i] = 0
		}
		(*sum)[i] += last
	}
}

func fill(column *[]Number, n int) {
	for len(*column) < n {
		*column = append(*column, None())
	}
}
