package copies_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/gateway/copies"
)

// A call to one of two copies, as the gateway makes it.
func Example() {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	one, two := httptest.NewServer(hello), httptest.NewServer(hello)
	defer one.Close()
	defer two.Close()
	a, _ := url.Parse(one.URL)
	b, _ := url.Parse(two.URL)

	set, err := copies.New(copies.Config{Name: "app", URLs: []*url.URL{a, b}})
	if err != nil {
		fmt.Println(err)
		return
	}
	set.Start()
	defer set.Close()

	c, _ := set.Take(nil)
	defer c.Done()
	req, _ := http.NewRequest("GET", c.Base().String(), nil)
	began := time.Now()
	res, err := c.Transport(false).RoundTrip(req)
	if err != nil {
		fmt.Println(c.Explain(err))
		return
	}
	defer res.Body.Close()
	c.Judge(copies.OutcomeOf(res.StatusCode), time.Since(began))
	fmt.Println(res.Status, "of one of", len(set.States()))
	// Output: 200 OK of one of 2
}
