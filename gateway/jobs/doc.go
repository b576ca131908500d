// Package jobs does work that was accepted: it picks jobs from the ledger in their
// tenants' turn, offers each to its class as a request, and writes down what came of it.
//
//	Jobs      what a gateway has of it: workers for each class, a keeper, a teller
//	Offer     how a job is offered to its class: the gateway's own way of a request
//	Writer    where the answer of a request goes that is kept
//	Head      what of a request or an answer is kept beside its body
//	Hooks     where the end of a job may be told
//
// It decides nothing. Whose turn it is says policy/fair, what an attempt has come to
// policy/job, whether there is room for it, and when, the class's own machine: a job is
// offered like any request, waits in the same room, and is refused for the same reasons,
// after which it is offered again when that may have changed.
//
// # What is on disk when
//
// Nothing is written for a job that is picked. When its class has given it the right to
// run, and before the first byte is sent, its start marker is ([Writer.Begin]); there the
// ledger also finds that another gateway was quicker, that it was cancelled, or that its
// deadline has passed, and the right to run is given back. Its answer is written together
// with its end. So each job costs three transactions, each shared with whoever commits at
// the same moment.
//
// # Memory
//
// Jobs that wait are rows. Here are only those that are offered, as many as there are
// workers, and a place in the schedule for each of some thousand tenants of whom
// something waits; those beyond take their turn when others have none left.
package jobs
