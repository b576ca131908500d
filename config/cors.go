package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// CORS is what web pages of other origins may see of the gateway. What the service
// allows them is the service's affair, and passes through.
type CORS struct {
	Origins     Words      `yaml:"origins" items:"100" doc:"Origins whose pages may read the gateway's own answers, such as a refusal with its Retry-After: https://shop.example, https://*.shop.example for every name below, or * for any. Default: none; a page then sees a network error where the gateway refuses."`
	Credentials Switch     `yaml:"credentials" default:"off" doc:"Whether pages of these origins may read them where they send cookies along."`
	Expose      Switch     `yaml:"expose" default:"on" doc:"Whether answers to pages name Spillway-Rung, Spillway-Reason, Retry-After, X-Should-Retry and X-Request-Id in Access-Control-Expose-Headers, without which scripts cannot read them."`
	Preflights  Preflights `yaml:"preflights" default:"forward" doc:"forward: the service answers the browser's question before a request, as a request like any other. answer: the gateway does, for these origins, whatever is shed: it is neither offered nor forwarded."`
	Methods     Words      `yaml:"methods" items:"100" doc:"With preflights: answer: the methods that pages may use. Default: GET, HEAD, POST, PUT, PATCH, DELETE."`
	Headers     Words      `yaml:"headers" items:"100" doc:"With preflights: answer: the request headers that pages may send, or * for those that they ask for. Default: *."`
	MaxAge      Duration   `yaml:"max_age" default:"10m" min:"1s" max:"24h" doc:"With preflights: answer: how long browsers may remember it."`
}

// Preflights is who answers a browser's question before a request.
type Preflights string

// The ways to treat preflights; PreflightsForward is the default.
const (
	PreflightsForward Preflights = "forward"
	PreflightsAnswer  Preflights = "answer"
)

func (Preflights) values() []string { return []string{"forward", "answer"} }

func (c *CORS) fill() {
	c.Credentials = cmp.Or(c.Credentials, Off)
	c.Expose = cmp.Or(c.Expose, On)
	c.Preflights = cmp.Or(c.Preflights, PreflightsForward)
	if c.Preflights == PreflightsAnswer {
		if len(c.Methods) == 0 {
			c.Methods = Words{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
		}
		if len(c.Headers) == 0 {
			c.Headers = Words{"*"}
		}
	}
	c.MaxAge = cmp.Or(c.MaxAge, Duration(600e9)) // Chromium's cap is 2 h, and a mistake should not last
}

// Allows reports whether pages of an origin, as browsers write it, may read the
// gateway's own answers.
func (c *CORS) Allows(origin string) bool {
	return slices.ContainsFunc(c.Origins, func(o string) bool {
		if o == "*" || o == origin {
			return true
		}
		scheme, below, ok := strings.Cut(o, "://*.")
		rest, same := strings.CutPrefix(origin, scheme+"://")
		name, is := strings.CutSuffix(rest, "."+below)
		return ok && same && is && name != "" && !strings.ContainsAny(name, "/@:?#")
	})
}

func (k *checker) cors() {
	c := k.cfg.CORS
	for i, o := range c.Origins {
		at := k.item("cors.origins", i)
		plain := strings.Replace(o, "://*.", "://", 1)
		u, err := url.Parse(plain)
		ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Scheme+"://"+u.Host == plain &&
			!strings.Contains(plain, "*") && plain == strings.ToLower(plain)
		if o != "*" && !ok {
			k.report(at, "write it as browsers do: https://shop.example, without a path, or https://*.shop.example", "is %s, which no origin is", quote(o))
		}
		if o == "*" && c.Credentials == On {
			k.report(at, "name the origins", "is * with credentials: any page could read what only the user may")
		}
	}
	if c.Preflights == PreflightsAnswer && len(c.Origins) == 0 {
		k.report("cors.preflights", "add origins", "is answer, but no origin is allowed anything")
	}
	if c.Preflights != PreflightsAnswer && (len(c.Methods) > 0 || len(c.Headers) > 0) {
		k.report("cors.preflights", "write answer, or remove methods and headers", "is forward: the service says what pages may")
	}
	for i, m := range c.Methods {
		if !isToken(m) || m != strings.ToUpper(m) {
			k.report(k.item("cors.methods", i), "write it in capitals, as in GET", "is %s", quote(m))
		}
	}
	for i, h := range c.Headers {
		if !isToken(h) || len(h) > 100 {
			k.report(k.item("cors.headers", i), "write a header's name, or *", "is %s", quote(h))
		}
	}
}
