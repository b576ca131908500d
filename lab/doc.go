// Package lab is what the experiments have in common: predictions that are
// written before the first round and judged after it, figures by name, raw
// records, and the page and table that show them. The experiments themselves
// are the packages below it:
//
//	lab/fair    which tenant is served when one of them floods a queue
//	lab/pool    where a worker pool should stop taking work in
//	lab/limits  which limit finds what a resource can do at once
//	lab/parts   real processes of live rounds, and what is known of the machine
//	lab/verify  every figure and verdict again, from the raw records alone
//
// An experiment has arms. An arm is a scenario of package sim with one thing
// changed, so that what is compared is the policy code that runs live; a lab
// takes no decision of its own about who is admitted or served.
//
// # Raw records
//
// With a [Recorder] a run leaves a folder behind:
//
//	plan.json      lab, seed, the settings of every arm and the predictions,
//	               written before anything is played
//	ARM.csv.gz     a row for every attempt when its caller was answered, for
//	               every stretch of work, and for every retry that was
//	               recognised by its key. The first line names format, lab and
//	               arm, and holds the SHA-256 of plan.json: a prediction cannot
//	               be changed without every file of records saying so
//	results.json   what --json prints, with rows and SHA-256 of each file
//
// The columns are those of [Columns]; instants are nanoseconds since the start
// of the run, -1 where there is none. The same seed gives the same bytes.
//
// Nothing here is safe for concurrent use.
package lab
