package demo

import (
	"net"
	"net/http"
	"time"
)

// service is a small real server that can do a known rate: so many requests
// at once, each for a fixed time, and a line without end before them. It is
// what most services are: polite, and with no idea of when to stop.
type service struct {
	listener net.Listener
	server   *http.Server
	slots    chan struct{}
	work     time.Duration
	stopped  chan struct{}
}

func startService(slots int, work time.Duration) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{listener: l, slots: make(chan struct{}, slots), work: work, stopped: make(chan struct{})}
	s.server = &http.Server{Handler: s}
	go s.server.Serve(l) // ends with stop
	return s, nil
}

// ServeHTTP works on the request when its turn comes. That the caller may have
// left in the meantime it does not notice.
func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	select {
	case s.slots <- struct{}{}: // senders are served first come, first served
	case <-s.stopped:
		return
	}
	time.Sleep(s.work)
	<-s.slots
	w.Header().Set("Content-Type", "text/plain")
	w.Write([]byte("done\n"))
}

func (s *service) url() string { return "http://" + s.listener.Addr().String() }

// stop ends the service with whatever still waits in its line.
func (s *service) stop() {
	close(s.stopped)
	s.server.Close()
}
