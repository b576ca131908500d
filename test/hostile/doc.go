// Package hostile attacks a real gateway over real sockets: slow callers, floods,
// ambiguous framings, forged headers, targets that point elsewhere.
//
// Every attack is a test that fails without its defence, and shows that it would:
// the same bytes are sent to a gateway whose limit is lifted, or to a server or
// proxy that lacks the defence, and must do there what they must not do here.
//
// Behind the gateway stand servers that have nothing in common with it: a recorder
// that reads HTTP/1.1 in its own strict way and keeps what came, and nginx where
// the machine has it.
//
// docs/hardening.md says which test holds which promise.
package hostile
