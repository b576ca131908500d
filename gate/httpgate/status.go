package httpgate

import (
	"net/http"

	"github.com/spillway-dev/spillway/gate/internal/told"
	"github.com/spillway-dev/spillway/policy/reason"
)

// StatusClientGone is what logs say of a caller who hung up. It is never sent.
const StatusClientGone = 499

// Status returns the HTTP status of a reason where there is no cheaper rung.
func Status(why reason.Reason) int {
	if s := told.Of(why).HTTP; s != 0 {
		return s
	}
	return http.StatusOK
}
