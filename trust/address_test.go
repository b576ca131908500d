package trust

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

var balancers = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}

func TestWhereARequestComesFrom(t *testing.T) {
	for _, c := range []struct {
		name      string
		remote    string
		lines     []string
		client    string
		proxied   bool
		malformed bool
	}{
		{name: "no proxy", remote: "192.0.2.1:99", client: "192.0.2.1"},
		{name: "a header from nobody's proxy is forged", remote: "192.0.2.1:99", lines: []string{"203.0.113.7"}, client: "192.0.2.1"},
		{name: "one proxy", remote: "10.0.0.1:99", lines: []string{"203.0.113.7"}, client: "203.0.113.7", proxied: true},
		{name: "what the caller wrote lies further left", remote: "10.0.0.1:99", lines: []string{"127.0.0.1, 10.0.0.9, 203.0.113.7"}, client: "203.0.113.7", proxied: true},
		{name: "on a line of its own too", remote: "10.0.0.1:99", lines: []string{"127.0.0.1", "203.0.113.7"}, client: "203.0.113.7", proxied: true},
		{name: "two proxies", remote: "10.0.0.1:99", lines: []string{"6.6.6.6, 203.0.113.7, 10.0.0.2"}, client: "203.0.113.7", proxied: true},
		{name: "from within", remote: "10.0.0.1:99", lines: []string{"10.0.0.3, 10.0.0.2"}, client: "10.0.0.3", proxied: true},
		{name: "a proxy that says nothing", remote: "10.0.0.1:99", client: "10.0.0.1", proxied: true},
		{name: "nonsense ends the walk at who passed it on", remote: "10.0.0.1:99", lines: []string{"203.0.113.7, evil, 10.0.0.2"}, client: "10.0.0.2", proxied: true, malformed: true},
		{name: "empty elements are none", remote: "10.0.0.1:99", lines: []string{"203.0.113.7, ,", "", ","}, client: "203.0.113.7", proxied: true},
		{name: "IPv6", remote: "[fd00::1]:99", lines: []string{"2001:db8::7"}, client: "2001:db8::7", proxied: true},
		{name: "with ports", remote: "10.0.0.1:99", lines: []string{"[2001:db8::7]:443, 10.0.0.2:80"}, client: "2001:db8::7", proxied: true},
		{name: "with a zone", remote: "[fd00::1%eth0]:99", lines: []string{"fe80::1%eth9"}, client: "fe80::1", proxied: true},
		{name: "IPv4 in IPv6 is IPv4", remote: "[::ffff:10.0.0.1]:99", lines: []string{"::ffff:203.0.113.7"}, client: "203.0.113.7", proxied: true},
		{name: "no address at all", remote: "@", client: ""},
		{name: "octal is not an address", remote: "10.0.0.1:99", lines: []string{"0177.0.0.1"}, client: "10.0.0.1", proxied: true, malformed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Proxies{From: balancers}
			o := p.Origin(c.remote, http.Header{"X-Forwarded-For": c.lines, "Forwarded": {"for=9.9.9.9"}})
			if shown(o.Client) != c.client || o.Proxied != c.proxied || o.Malformed != c.malformed {
				t.Errorf("%+v, want client %q, proxied %v, malformed %v", o, c.client, c.proxied, c.malformed)
			}
		})
	}
}

func shown(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func TestForwardedIsReadFromTheRight(t *testing.T) {
	for _, c := range []struct {
		name, header, client string
		malformed            bool
	}{
		{"plain", `for=203.0.113.7`, "203.0.113.7", false},
		{"with more beside it", `proto=https; By=10.0.0.1 ;For="203.0.113.7:4711"`, "203.0.113.7", false},
		{"IPv6 in quotes", `for="[2001:db8::7]:99"`, "2001:db8::7", false},
		{"a quote that the caller left open swallows nothing", `for="6.6.6.6, for=203.0.113.7`, "203.0.113.7", false},
		{"nor does one with an escape", `for="6.6.6.6\", for=203.0.113.7`, "203.0.113.7", false},
		{"a comma inside quotes", `for=203.0.113.7;x="a,b"`, "203.0.113.7", false},
		{"two of them say nothing", `for=1.1.1.1;for=2.2.2.2`, "10.0.0.1", true},
		{"hidden", `for=_hidden`, "10.0.0.1", true},
		{"unknown", `for=unknown`, "10.0.0.1", true},
		{"no for at all", `by=1.1.1.1`, "10.0.0.1", true},
	} {
		p := Proxies{From: balancers, Forwarded: true}
		o := p.Origin("10.0.0.1:99", http.Header{"Forwarded": {c.header}, "X-Forwarded-For": {"9.9.9.9"}})
		if shown(o.Client) != c.client || o.Malformed != c.malformed {
			t.Errorf("%s: %+v, want %s, malformed %v", c.name, o, c.client, c.malformed)
		}
	}
}

func TestAUnixSocketCanBeAProxy(t *testing.T) {
	p := Proxies{Unix: true}
	if o := p.Origin("@", http.Header{"X-Forwarded-For": {"203.0.113.7"}}); shown(o.Client) != "203.0.113.7" || !o.Proxied {
		t.Errorf("%+v", o)
	}
}

// A header of a million hops costs no more than one of 32.
func TestTheWalkIsBounded(t *testing.T) {
	p := Proxies{From: balancers}
	h := http.Header{"X-Forwarded-For": {"203.0.113.7," + strings.Repeat("10.0.0.2,", 10_000)}}
	if o := p.Origin("10.0.0.1:99", h); shown(o.Client) != "10.0.0.2" {
		t.Errorf("%+v, want to end among the proxies", o)
	}
}

func TestFindingTheOriginAllocatesNothing(t *testing.T) {
	p := Proxies{From: balancers}
	h := http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.7, 10.0.0.2"}}
	if n := testing.AllocsPerRun(100, func() { p.Origin("10.0.0.1:99", h) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever a caller writes to the left of what the proxies wrote changes
// nothing.
func FuzzForgedForwardedFor(f *testing.F) {
	for _, s := range []string{"", "1.2.3.4", ",,", `"`, "[::1]:1", "a, b", "\x00", "10.0.0.1,", "for=\"", `\"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		for _, forwarded := range []bool{false, true} {
			p := Proxies{From: balancers, Forwarded: forwarded}
			written := "203.0.113.7, 10.0.0.2"
			if forwarded {
				written = `for=203.0.113.7, for="10.0.0.2"`
			}
			for _, lines := range [][]string{{forged + ", " + written}, {forged, written}} {
				o := p.Origin("10.0.0.1:99", http.Header{"X-Forwarded-For": lines, "Forwarded": lines})
				if shown(o.Client) != "203.0.113.7" || o.Malformed {
					t.Fatalf("%q: %+v", lines, o)
				}
			}
			// And alone it gives an address or is malformed, never a panic.
			h := http.Header{"X-Forwarded-For": {forged}, "Forwarded": {forged}}
			if o := p.Origin("10.0.0.1:99", h); !o.Client.IsValid() || o.Client.Zone() != "" || o.Client.Is4In6() {
				t.Fatalf("%q: %+v", forged, o)
			}
		}
	})
}

func ExampleProxies_Origin() {
	p := Proxies{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	h := http.Header{"X-Forwarded-For": {"127.0.0.1, 203.0.113.7"}} // the first is the caller's own invention
	fmt.Println(p.Origin("10.0.0.1:4711", h).Client)
	fmt.Println(p.Origin("198.51.100.9:4711", h).Client)
	// Output:
	// 203.0.113.7
	// 198.51.100.9
}
