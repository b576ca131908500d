package observe

// Edge is what stands before every class: connections, and requests that were
// turned away before anything was decided about them.
type Edge struct {
	// Connections of callers that are open.
	Connections int64
	// Refused counts connections closed as they came, by why: total or address.
	Refused [2]int64
	// Limited counts requests and connections cut by a limit, in the order of
	// [EdgeLimits].
	Limited [4]int64
}

// EdgeLimits are the values of the label limit.
var EdgeLimits = [4]string{"header_count", "body", "body_rate", "resets"}

var (
	edgeConnections = Definition{"spillway_connections", "gauge", nil, "Connections of callers that are open."}
	edgeRefused     = Definition{"spillway_connections_refused_total", "counter", []string{"limit"}, "Connections closed as they came: limits.connections or limits.connections_per_address was reached."}
	edgeLimited     = Definition{"spillway_limited_total", "counter", []string{"limit"}, "Requests turned away by a limit before anything was decided about them, and for resets connections cut. They are on no class's account but for body and body_rate, where part of a body had come."}
)

func (s sink) edge(e Edge) {
	s.add(&edgeConnections, float64(e.Connections))
	for i, limit := range []string{"connections", "connections_per_address"} {
		s.add(&edgeRefused, float64(e.Refused[i]), limit)
	}
	for i, limit := range EdgeLimits {
		s.add(&edgeLimited, float64(e.Limited[i]), limit)
	}
}
