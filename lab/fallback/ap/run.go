package ap

// Run builds the ranking and prices every arm. hear, if not nil, is told what
// is being done. Errors are one line; those about a file name it and the line.
func Run(o Options, arms []Arm, hear func(done, total int, what string)) (*Result, error) {
	r, err := Prepare(o, hear)
	if err != nil {
		return nil, err
	}
	result := &Result{Ranking: r.Facts(), Arms: map[string]*Cost{}}
	for i, a := range arms {
		if hear != nil {
			hear(i, len(arms), "stand-ins of "+a.Name)
		}
		if result.Arms[a.Name], err = r.Cost(a); err != nil {
			return nil, err
		}
		result.Order = append(result.Order, a.Name)
	}
	return result, nil
}
