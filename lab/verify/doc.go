// Package verify computes every figure and every verdict of a lab again, from
// its raw records alone, and compares them with what was written.
//
// It shares nothing with the labs' arithmetic: it imports nothing of this
// module, reads the files by itself (package lab documents them) and computes
// by other means: whole lists, sorted, where the labs count as they go, and
// exact ranks where the report keeps histograms. A histogram's quantile is
// right if it is at most 0.1 % above the exact one, as the report promises.
//
//	outcome, err := verify.Dir("records")
//	for _, m := range outcome.Mismatches { fmt.Println(m) }
//
// What is compared: the hash of the plan in every file of records and in the
// results; rows and hash of every file; every number of every arm, each of
// which must be found again (one that cannot be is a mismatch too); every
// prediction with its measured figures and its verdict. Sentences are not: they
// repeat figures in words.
//
// All of an arm's records are held in memory at once. Nothing here is safe for
// concurrent use.
package verify
