package trust

import (
	"fmt"
	"strings"
)

// Sources is a set of ways in which a caller can be known.
type Sources uint8

// The ways. Nobody is how a caller is known that proved nothing.
const (
	MTLS  Sources = 1 << iota // a client certificate, verified by the listener
	JWT                       // a signed token
	Key                       // an API key
	Proxy                     // the connection comes from a proxy that is trusted
	Nobody

	// Any is everybody, None is no one.
	Any  = MTLS | JWT | Key | Proxy | Nobody
	None = Sources(0)
	// Proven are those that name an identity.
	Proven = MTLS | JWT | Key
)

var sourceNames = []struct {
	s    Sources
	name string
}{{MTLS, "mtls"}, {JWT, "jwt"}, {Key, "key"}, {Proxy, "proxy"}, {Nobody, "nobody"}}

// ParseSources returns the set that a list of words names: mtls, jwt, key,
// proxy, or any or none alone.
func ParseSources(words []string) (Sources, error) {
	var set Sources
next:
	for _, w := range words {
		if w == "any" || w == "none" {
			if len(words) > 1 {
				return 0, fmt.Errorf("%s stands alone; write it without the others", w)
			}
			if w == "any" {
				return Any, nil
			}
			return None, nil
		}
		for _, n := range sourceNames {
			if n.name == w && n.s != Nobody {
				set |= n.s
				continue next
			}
		}
		return 0, fmt.Errorf("%q is no source; write mtls, jwt, key or proxy, or any or none alone", w)
	}
	return set, nil
}

// String lists the set as the configuration writes it.
func (s Sources) String() string {
	switch s {
	case Any:
		return "any"
	case None:
		return "none"
	}
	var words []string
	for _, n := range sourceNames {
		if s&n.s != 0 {
			words = append(words, n.name)
		}
	}
	return strings.Join(words, ", ")
}

// Identity is who a caller is. It is a value; its strings are shared.
type Identity struct {
	// Sources is how it is known: all that held.
	Sources Sources
	// By is the proof that names it; Nobody if there is none.
	By Sources
	// Name is what the most specific proof calls it: the key's name, else the
	// token's subject, else the certificate's name; "" for nobody.
	Name string
	// Tenant is whose it is, if its proof or its role says.
	Tenant string
	// Role is what bounds its claims; nil for none.
	Role *Role
	// Failed is why a proof that was offered did not hold.
	Failed Failure
}

// Verified reports whether the caller has proved who it is.
func (id *Identity) Verified() bool { return id.Sources&Proven != 0 }

// Account returns the tenant that the identity is served as: its tenant, else
// its name; "" for nobody.
func (id *Identity) Account() string {
	if id.Tenant != "" {
		return id.Tenant
	}
	return id.Name
}

// Failure is why a proof did not hold: a closed set, fit for a label.
type Failure uint8

// The failures.
const (
	Held        Failure = iota // nothing failed
	Malformed                  // it cannot be read, or is too long
	Algorithm                  // signed in a way that is not allowed
	UnknownKey                 // no key of that name, or no such API key
	Signature                  // the signature is not that key's
	Expired                    // its time has passed
	NotYet                     // its time has not come
	Audience                   // it is meant for somebody else
	Issuer                     // somebody else has issued it
	Revoked                    // it was valid once
	Unavailable                // there are no keys to verify it with yet
	Failures    = iota
)

var failureNames = [Failures]string{"held", "malformed", "algorithm", "unknown_key", "signature", "expired", "not_yet", "audience", "issuer", "revoked", "unavailable"}

// String returns the failure's label.
func (f Failure) String() string { return failureNames[f] }
