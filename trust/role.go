package trust

import (
	"slices"
	"strings"
	"time"
)

// The roles that are there by themselves, whether or not they bound anything.
const (
	RoleAnonymous = "anonymous" // of callers that proved nothing
	RoleVerified  = "verified"  // of those that did and have no other
)

// Role bounds what those who have it may claim. It is not changed after it was
// handed over.
type Role struct {
	Name string
	// Members have the role whatever their proof says: "mtls:", "jwt:" or
	// "key:" and a name, a final * matching any rest.
	Members []string
	// Tenant is whose its members' requests are, where their proof names none.
	Tenant string
	// Importance is the highest that may be claimed; "": any.
	Importance string
	// Classes are those that may be used; nil: all.
	Classes []string
	// Deadline is the longest that may be named; 0: what the class allows.
	Deadline time.Duration
}

// MayUse reports whether those who have the role may use the class. No role
// bounds nothing.
func (r *Role) MayUse(class string) bool {
	return r == nil || r.Classes == nil || slices.Contains(r.Classes, class)
}

// Highest returns the index of the highest level that may be claimed, in the
// levels of a class, most important first. A level that the class does not have
// is one that may not be claimed there at all: its last.
func (r *Role) Highest(levels []string) int {
	if r == nil || r.Importance == "" {
		return 0
	}
	if i := slices.Index(levels, r.Importance); i >= 0 {
		return i
	}
	return max(len(levels)-1, 0)
}

// roles are all of a configuration.
type roles struct {
	list                []*Role
	anonymous, verified *Role
}

func newRoles(list []Role) *roles {
	r := new(roles)
	for i := range list {
		role := &list[i]
		r.list = append(r.list, role)
		switch role.Name {
		case RoleAnonymous:
			r.anonymous = role
		case RoleVerified:
			r.verified = role
		}
	}
	return r
}

// assign gives an identity its role: the first that counts it among its members,
// else the first that its proof names, else that of all who are verified. A
// proof cannot make its bearer anonymous, whose bounds may be wider.
func (r *roles) assign(id *Identity, kind string, named []string) {
	id.Role = r.verified
	who := kind + ":" + id.Name
	i := slices.IndexFunc(r.list, func(role *Role) bool { return role.has(who) })
	if i < 0 {
		i = slices.IndexFunc(r.list, func(role *Role) bool {
			return role.Name != RoleAnonymous && slices.Contains(named, role.Name)
		})
	}
	if i >= 0 {
		id.Role = r.list[i]
	}
	if id.Tenant == "" && id.Role != nil {
		id.Tenant = id.Role.Tenant
	}
}

func (r *Role) has(who string) bool {
	return slices.ContainsFunc(r.Members, func(m string) bool {
		if rest, ok := strings.CutSuffix(m, "*"); ok {
			return strings.HasPrefix(who, rest)
		}
		return m == who
	})
}
