// Package standin gives a program its cheaper answers: what is said instead when a
// dependency is slow, fails, or cannot be asked.
//
//	scores := standin.New(standin.Options[float64]{Limits: standin.Limits{Age: time.Hour}})
//	down, err := standin.NewLadder(standin.LadderOptions{}, standin.LastKnown(scores), standin.Default(0.5))
//	...
//	score, said, err := standin.Do(ctx, down, customer, func(ctx context.Context) (float64, error) {
//		return store.Score(ctx, customer)
//	})
//
// A [Ladder] is written down before anything is slow, best rung first; said tells
// which rung answered, why, and how old the answer is. Only what the primary said
// is ever remembered: a stand-in is never a later stand-in's source. Which rung is
// next is decided in policy/ladder; what is here is its way to be done.
//
//	Store      the last answer for each key, bounded in entries, bytes and age
//	Rung       one cheaper answer: LastKnown, Default, or Computed by the program
//	Ladder     their order, with what is kept back of the deadline
//	Do         the primary, or else the best rung that has something
//	Instead    the same for what was refused before the primary was asked
//
// Sub-package onfile keeps a store in a SQLite file, so that a restart begins with
// what was known. Nothing here reads or writes a file while a request waits.
package standin
