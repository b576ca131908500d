// Package trace reads recordings of real requests as a
// [github.com/spillway-dev/spillway/workload.Source].
//
// A trace is one of three things, found out by how it begins; gzip is recognised:
//
//   - a recording that a gateway made (package record), with all files of its run;
//   - an access log (package accesslog), whose values have the columns that
//     accesslog.Columns names;
//   - lines of comma, semicolon or tab separated values with a header, or of JSON
//     objects.
//
// [Reader.About] says in words what a file was taken for. Requests of which only
// the service time is not known, such as those that were refused, are lent the
// time of another of their class.
//
// Of the third kind, presets know some public traces by
// their header (see [Presets]); for others a mapping says which column means
// what:
//
//	m, err := trace.ParseMapping("at=time:ms,tenant=customer,cost=tokens_in+2*tokens_out,service=took:ms")
//	r, err := trace.Open("requests.csv.gz", trace.Options{Mapping: m, Names: names})
//	defer r.Close()
//	var a workload.Arrival
//	for r.Next(&a) {
//		...
//	}
//	if err := r.Err(); err != nil { ... }
//	fmt.Println(r.Stats())
//
// A file from elsewhere has damaged lines: they are counted, the first few are
// kept with their number and what is wrong with them, and reading goes on. What
// makes the whole file unusable (no such column, not one usable line, a broken
// gzip stream) is the error.
//
// Lines need not be in order of time: up to Options.Window of them are held and
// sorted, which also bounds memory, whatever the length of the file. A line that
// comes later still is counted as late, and offered at once.
package trace
