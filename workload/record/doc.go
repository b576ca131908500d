// Package record writes and reads Spillway's own trace: what was offered to a
// gateway, in about 20 bytes a request.
//
//	rec, err := record.New(record.Options{Path: "traffic.rec", Classes: classes, Outcomes: reasons})
//	...
//	rec.Add(record.Request{Arrival: at, Class: c, Tenant: rec.Hash(tenant), Service: took, Outcome: why})
//	...
//	err = rec.Close()
//
//	r, err := record.Open("traffic.rec")
//	defer r.Close()
//	var q record.Request
//	for r.Next(&q) { ... }
//	fmt.Println(r.Header().Classes[q.Class], r.Stats())
//
// # What it holds
//
// Of each request: when it arrived, its class, how long it waited, how long it
// held its slot, what its caller allowed, its cost, importance and size, and
// what became of it. Of tenant and session there is a salted hash; of path,
// headers, addresses and bodies nothing. The salt is made anew for each
// recording and written nowhere, so that nobody can find a tenant by trying
// names; with a salt of one's own two recordings can be joined.
//
// # Format, version 1
//
// A file is the eight bytes "SPILLREC" and then blocks. A block is
//
//	marker  4 bytes  F5 42 4C 4B
//	kind    1 byte   H header, N names, R requests
//	length  4 bytes  of the payload, at most 1 MiB
//	count   4 bytes  requests in it; 0 in other kinds
//	check   4 bytes  CRC-32C of kind, length, count and payload
//	payload
//
// with numbers in little-endian order. The first block is the header, a JSON
// object ([Header]); a names block is another of the same members, written when
// classes were added. A block of requests is
//
//	uvarint  requests that were lost since the block before
//	count times:
//	  1 byte   which of the optional values follow, lowest bit first
//	  varint   arrival, ns after the request before; of the first, after the start
//	  uvarint  class
//	  1 byte   outcome
//	  optional uvarints: wait ns, service ns, allowed ns, tenant, session, cost, importance, bytes
//
// where a tenant or session is 0 and the eight bytes of its hash, or the number
// (from 1) of a hash that this block has shown before. Requests stand in the
// order in which they ended.
//
// A block is whole or it is nothing: what a crash, a full disk or a flipped bit
// leaves is skipped to the next marker, counted, and named by its offset. Values
// beyond those of version 1 come with a new version.
//
// # What it costs
//
// [Recorder.Add] copies a request into a bounded buffer under a short lock: no
// allocation, no I/O, well below a microsecond. A goroutine turns the buffer
// into blocks each [Options.Flush]. If it does not keep up, or the disk is full,
// requests are lost and counted ([Stats]), and the traffic never waits.
//
// The package imports nothing of the project.
package record
