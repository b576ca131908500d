//go:build !nocel

package expr_test

import "net/textproto"

// made is a request made up of what it says.
type made struct {
	method, host, path     string
	query, headers         map[string]string
	size                   int64
	class, tenant, session string
}

func (m *made) Method() string  { return m.method }
func (m *made) Host() string    { return m.host }
func (m *made) Path() string    { return m.path }
func (m *made) Size() int64     { return m.size }
func (m *made) Class() string   { return m.class }
func (m *made) Tenant() string  { return m.tenant }
func (m *made) Session() string { return m.session }

func (m *made) Query(name string) (string, bool) {
	v, ok := m.query[name]
	return v, ok
}

func (m *made) Header(name string) (string, bool) {
	v, ok := m.headers[textproto.CanonicalMIMEHeaderKey(name)]
	return v, ok
}
