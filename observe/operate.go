package observe

// What operators and balancers have changed by hand or policy.
var (
	operatorLeft = Definition{"spillway_operator_remaining_seconds", "gauge", perClass, "How long the class is still switched to another mode by hand (reason operator); 0 while it is as configured."}
	ready        = Definition{"spillway_ready", "gauge", nil, "What /readyz said last of shedding: 0 while balancers are told to send elsewhere. Draining has a metric of its own."}
)
