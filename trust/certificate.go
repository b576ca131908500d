package trust

import (
	"crypto/tls"
	"fmt"
)

// NameOf says which name of a certificate is its identity's.
type NameOf uint8

// The names of a certificate. One is chosen, because an authority that is
// careful about one of them may not be about the others.
const (
	CommonName NameOf = iota
	URI               // the first subject alternative name that is a URI, as SPIFFE's
	DNS
	Email
)

var nameWords = [...]string{"cn", "uri", "dns", "email"}

// String returns the configuration's word.
func (n NameOf) String() string { return nameWords[n] }

// ParseNameOf returns the name that the configuration's word stands for.
func ParseNameOf(word string) (NameOf, error) {
	for i, w := range nameWords {
		if w == word {
			return NameOf(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no name of a certificate; write cn, uri, dns or email", word)
}

// certificateName returns the name of the client certificate that the listener
// has verified; "" if there is none, or none with such a name. A certificate
// that was merely sent counts for nothing.
func certificateName(state *tls.ConnectionState, n NameOf) string {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return ""
	}
	leaf := state.VerifiedChains[0][0]
	switch {
	case n == CommonName:
		return leaf.Subject.CommonName
	case n == URI && len(leaf.URIs) > 0:
		return leaf.URIs[0].String()
	case n == DNS && len(leaf.DNSNames) > 0:
		return leaf.DNSNames[0]
	case n == Email && len(leaf.EmailAddresses) > 0:
		return leaf.EmailAddresses[0]
	}
	return ""
}
