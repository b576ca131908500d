package steer

import "strconv"

// LoadHeader is where ORCA (the Open Request Cost Aggregation of xDS, gRFC A51) has a
// server say how loaded it is, with each answer, for Envoy's and gRPC's weighted round
// robin.
const LoadHeader = "Endpoint-Load-Metrics"

// Load returns the header's value: how full the copy would be if it served all that it is
// offered, above 1 where it refuses, and how much that is. A balancer that goes by what is
// *served* sends most to the copy that refuses most. It is as of the latest look, and costs
// an atomic read.
func (b *Board) Load() string {
	if text := b.load.Load(); text != nil {
		return *text
	}
	return loadText(nil)
}

func loadText(all []Told) string {
	offered := 0.0
	for _, t := range all {
		offered += t.OfferedPerS
	}
	text := append(make([]byte, 0, 64), "TEXT application_utilization="...)
	text = strconv.AppendFloat(text, fullest(all).Load, 'f', 4, 64)
	text = append(text, ",rps_fractional="...)
	return string(strconv.AppendFloat(text, offered, 'f', 1, 64))
}
