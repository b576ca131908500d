// Package gap says how much worse a cheaper answer is for a request: what the shed
// law ([github.com/spillway-dev/spillway/policy/shed]) puts requests in order by.
//
//	given    a number that an expression gave, as a gap
//	table    a gap looked up by a text of the request
//	learned  a gap estimated from requests that both the primary and a cheaper rung answered
//	place    which texts have a place among those that are learned of
//	state    what is handed from one process to the next
//	sample   which requests are put to the cheaper rung as well, and when there is capacity for it
//
// # Learning
//
// A driver puts a sample of the requests that the primary has served to the
// cheaper rung too ([Sampled], [Spare]), finds the distance of the two answers, and
// hands it in ([Learner.Record]). Each bucket, a text made from the request, has an
// estimate of its mean distance with bounds: Wilson's score interval (E. B. Wilson,
// J. Am. Stat. Assoc. 22, 1927; of the common intervals the one to take for small
// samples, Brown, Cai and DasGupta, Statistical Science 16, 2001), which holds for
// any distance from 0 to 1, since none varies more than one that is 0 or 1. The
// number of samples in it is the effective one, (sum w)^2 / sum w^2, for samples
// whose weight w halves with each half-life.
//
// The gap that is used is the upper bound, 95 %, once there are enough samples; until
// then there is none, and the caller's own prior holds. So of two buckets of which as
// much is lost by a cheaper answer, the one of which less is known is shed later, and
// one that is no longer sampled goes back to the prior. What is measured is measured
// when there is capacity to spare: if the same bucket is worse off under load,
// nobody has seen it.
package gap
