package hostile_test

import (
	"bufio"
	"io"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
)

// TestEndingInGoodOrder: a connection's last answer says that it is the last, in
// HTTP/1.1 and in HTTP/2. A drain and a successor go the same way.
func TestEndingInGoodOrder(t *testing.T) {
	g := stand(t, record(t).addr, "limits: { requests_per_connection: 2 }")
	c := dial(t, g.addr, "")
	in := bufio.NewReader(c)
	for n := range 2 {
		io.WriteString(c, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 200 || res.Close != (n == 1) {
			t.Fatalf("answer %d: %+v, %v", n+1, res, err)
		}
		io.Copy(io.Discard, res.Body)
	}
	ends(t, c)

	h2 := speak(t, g.addr)
	if !h2.until(over(h2.ask(true, get("/a")...))) {
		t.Fatal("the first request was not answered")
	}
	h2.ask(true, get("/a")...)
	if !h2.until(func(f http2.Frame) bool {
		a, ok := f.(*http2.GoAwayFrame)
		return ok && a.ErrCode == http2.ErrCodeNo
	}) {
		t.Error("no GOAWAY came")
	}
}
