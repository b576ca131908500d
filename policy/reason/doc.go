// Package reason is the closed set of reasons why an answer is what it is.
//
// The same string stands in the response header, the metric label, the log
// field, the trace attribute and the report. Nothing outside this package
// makes up another.
package reason
