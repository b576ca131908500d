// Package shed decides what is given up under load, and who is told.
//
// A [Law] says, when a request is offered and before any queue has grown, whether
// it is to be answered with less: how large a share of what is offered does not
// fit (share.go), which requests that are, the ones that lose least first
// ([Gap], demand.go), and for how long a decision about a session holds (held.go).
// [Ready] says whether a copy of a service that sheds should call itself not
// ready, so that whoever spreads traffic sends it elsewhere.
//
// # The law
//
// A driver asks in two steps. When [Law.Due] says so it hands the law the class's
// [Load]; then [Law.Sheds] answers about one request, from the cut that the share
// makes through all levels:
//
//	kept answers | gap 0 | ... | gap b, in part | ... | gap 1
//	shed ------------------------------>|       served in full
//
// In the bucket that the cut goes through, sessions are shed whose place, a hash,
// lies below the part that is to be shed. A larger share sheds all that a smaller
// one sheds, so that a change of it moves as few sessions as can be; requests
// without a session are spread evenly.
//
// A session keeps what was decided about it: inside one stretch (a sentence, a
// conversation) requests with one gap are answered alike, and none in full that is
// worth less than one that was shed. It is moved where a new stretch begins or,
// named none, when the rule's span is over. Two things break a decision: a queue
// that grows so long that whoever is served in full would be late, and the want of
// room for more than so many sessions. And where few sessions ask for much, what a slice of them
// or decisions of before shed beyond the share is served request by request (excess.go).
//
// The share is the brownout's dimmer (Klein, Maggio, Årzén and Hernández-Rodriguez,
// ICSE 2014) with Little's law in place of a controller that has to learn what the
// dimmer does: arrivals and holding times are measured, and only what the queue
// says is fed back.
//
// A Law and a Ready have one owner each: nothing here is safe for concurrent use.
// A decision takes constant time, some tens of nanoseconds, and allocates nothing;
// 10 million sessions take no more memory than the rule allows.
package shed
