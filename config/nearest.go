package config

// nearest is the word most like got, or "" if none is near enough to be meant: at
// most a third of its letters wrong, and at least one right. Ties go to the first.
// Cost: len(got) x the words' letters; got is cut at 64 bytes.
func nearest(got string, words []string) string {
	got = got[:min(len(got), 64)]
	best, found := max(len(got)/3, 1)+1, ""
	for _, w := range words {
		if d := distance(got, w); d < best && d < max(len(got), len(w)) {
			best, found = d, w
		}
	}
	return found
}

// distance is the edit distance in bytes, a swap of neighbours counting as one
// (optimal string alignment).
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
