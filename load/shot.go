package load

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// shot is one request of the schedule, from its rendering to its record. One
// goroutine has it at a time: the schedule's, then the one that reads its
// answer or makes its next attempt.
type shot struct {
	arrival       workload.Arrival
	class, tenant string
	due           time.Time // when the schedule wants it sent
	sent          time.Time // when its first attempt went out; zero if none did
	attempts      int
	status        int     // of the last answer; 0: there was none
	body          []byte  // the beginning of its body
	refusal       verdict // of the attempt before, while waiting for the next

	wire    []byte        // HTTP/1.1
	request *http.Request // net/http
}

// carrier carries shots to the target and hands each attempt exactly once to
// generator.answered.
type carrier interface {
	// prepare renders the request before it is due, on the schedule's thread.
	prepare(s *shot, t *templates)
	// send starts an attempt and does not wait for it. It is called on the
	// schedule's thread for the first attempt, on others for further ones.
	send(s *shot)
	// sever breaks what is on the way; later sends fail.
	sever()
	// close ends what is idle, once nothing is on the way, and returns when no
	// goroutine is left.
	close()
}
