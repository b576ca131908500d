// Package job is what becomes of work that was accepted: a promise, kept until an
// answer is there or it is known that there will be none.
//
//	Job       the state of one job, a value that a store keeps in a row
//	Rules     how often and when it is tried again
//	Line      what waits of a tenant, of a class, of all; Bounds what may
//	Claim     what the second who brings an idempotency key is told
//
// # The states
//
//	waiting --Start--> running --End: an answer----------------------> done
//	   ^                  |------End: may be tried again-------------> waiting (not before Due)
//	   |                  |------End: may not--------------------------> dead
//	   |                  +------End, Lost: may have been done---------> unknown
//	   |                                                                  |
//	   +---------------------Resolve: it never ran------------------------+--> done (an answer, Resolve)
//	waiting --Cancel--> cancelled       waiting --its deadline passes--> dead
//
// Start writes the start marker, which is on disk before the first byte is sent, and
// nothing before it is written for a job that has only been picked. So a crash says at
// each point what it means: without the marker the attempt never ran and the job waits
// as before; with it and without an answer nobody knows ([Job.Lost]).
//
// What may have been done is done again only if twice is the same as once (Harmless: a
// method that says so, a class that allows it, a key that the upstream honours). The
// table is policy/call's. The rest is unknown, keeps its key for as long as that is so,
// and ends by an answer that turns up late or by evidence ([Job.Resolve]), never by a
// clock.
//
// # Fence
//
// Attempts are counted, and whoever writes names the one that it knows. A worker that
// was taken for dead and answers after all changes nothing of a later attempt
// ([ErrStale]); what it brings ends its own, if that is still unknown.
//
// # Idempotency keys
//
// A key is part of its job's row and has no life apart from it: no key without a job,
// no job that a key of somebody's last year still blocks. A request whose caller waits
// for the answer (Inline) is a job like any other that nobody else runs. The
// fingerprint of what is asked is compared before the state is looked at: another body
// under the same key is a conflict also while the first runs, since 409 is what clients
// retry and 422 is not (draft-ietf-httpapi-idempotency-key-header-07).
//
// Everything takes constant time, allocates nothing, and is not safe for concurrent
// use; a store calls it inside its transaction, on rows that it holds.
package job
