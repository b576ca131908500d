// Package resend keeps net/http from sending a request again on its own. There is one copy
// of it, for the gateway and for gate/httpgate.
//
// net/http's transport does so when a connection that it reused breaks, as often as it
// finds another to reuse. Behind a service that crashes on a request, one call becomes as
// many as there are idle connections: retries that no budget sees. [Forbid] makes that
// impossible, and the one case in which a second sending is right is done in the open by
// [Send], once, for whoever calls it to count: the connection was stale, by the rule of
// policy/call, and the request is safe and has no body.
//
// A request is watched on its way by a [Sending], which is its context.
package resend
