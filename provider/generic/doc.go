// Package generic is for services whose language is not known: what a call costs is an
// expression over its request (package expr), its answer passes unread, and what it was
// held for is what it has used. The limits and waits that its header names are read in
// all spellings that others use.
//
// Concurrency, bounds and errors are those of package provider.
package generic
