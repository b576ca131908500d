// Package config is Spillway's file format: its types, defaults, checks, JSON
// Schema and reference page.
//
// [Load] reads a file, [Parse] reads bytes, [ForUpstream] makes the one-class
// configuration behind `serve --upstream URL`. All three either return a
// configuration that means something or an error of type [Errors], which holds
// every problem at once, one line each:
//
//	spillway.yaml:7:5: unknown key "slotz" in classes.checkout; did you mean "slots"?
//
// A [Config] holds what the file says and nothing else: a zero field was not
// written and means the documented default. [Config.WithDefaults] fills a copy.
// What is allowed but unwise is in [Config.Warnings].
//
// # One source
//
// Each field of the structs in this package carries its key, unit, range,
// default and meaning as struct tags. The decoder, the range checks, [Schema]
// and [Reference] all read those tags, so that they cannot disagree:
//
//	yaml      the key; "-" is a field that has none, such as a name
//	doc       what it means, one sentence or two
//	default   what is used when it is not written, as one would write it
//	min, max  the range; outside is an error
//	large     above is a warning: it still means something, probably not what was meant
//	items     the most entries of a list or mapping; default 10,000
//	required  "true" where a mapping makes no sense without the key
//
// The format is larger than what is built: notyet.go lists every key that
// parses, is in the schema, and is refused with a clear line until its
// capability exists. Building one means deleting its line.
//
// # What is bounded
//
// A file is at most 1 MiB, one YAML document, and 50,000 nodes after aliases
// are followed. At most 50 problems are reported. `${NAME}` and `file:PATH` are
// replaced in values of type [Text] only, and neither messages nor [Text.String]
// print what they were replaced by.
//
// The package imports nothing of the project and starts nothing. Values are
// plain data: safe to read from many goroutines once nobody writes them.
package config
