// Package accesslog reads the request logs of web servers and proxies, a line
// at a time, without keeping any.
//
//	format, err := accesslog.ParseFormat("auto") // or nginx:'$remote_addr ...', haproxy, ...
//	...
//	if format.IsZero() {
//		format, err = accesslog.Detect(first50Lines)
//	}
//	p := format.Parser()
//	var e accesslog.Entry
//	switch err := p.Parse(line, &e); {
//	case errors.Is(err, accesslog.ErrNoRequest): // a comment, a message of the server's
//	case err != nil: // damaged
//	default: use(e.Arrival(), e.Method, e.Path)
//	}
//
// # What is known
//
//	common    Apache's and nginx' common and combined formats, with whatever follows
//	vhost     the same behind host:port
//	nginx:'FORMAT'   a log_format, or the whole directive
//	apache:'FORMAT'  a LogFormat, or the whole directive
//	haproxy   HTTP log, of 1.x and later, behind syslog's prefix or not
//	w3c       W3C extended: IIS, and others that have #Fields
//	caddy     Caddy's JSON
//	envoy     Envoy's JSON, with the names that its documentation and Istio use,
//	          and its default text format
//	pattern:'TEXT'   any other line, with $names in place of its values
//
// # When a request arrived
//
// Logs differ in what their stamp means. nginx, IIS and Caddy write when a
// request ended, Apache (%t) and Envoy when it began, HAProxy when it was
// accepted and how long its header took from there. [Entry.Arrival] is the
// beginning in all of them, as far as the line knows how long the request took.
// A stamp to the second says no more than that: Entry.Coarse tells, so that who
// replays the log can spread what it heaps up.
//
// # What is bounded
//
// Nothing is kept from line to line but W3C's list of fields. A value that makes
// no sense is an error that names it. The parsers allocate nothing but for JSON.
package accesslog
