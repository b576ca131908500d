package accesslog_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload/accesslog"
)

func Example() {
	format, err := accesslog.ParseFormat(`nginx:$remote_addr [$time_local] "$request" $status $request_time`)
	if err != nil {
		fmt.Println(err)
		return
	}
	var e accesslog.Entry
	if err := format.Parser().Parse([]byte(`10.0.0.1 [22/Jan/2019:03:56:14 +0000] "GET /cart HTTP/1.1" 200 0.250`), &e); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s at %v, took %v\n", e.Method, e.Path, time.Unix(0, e.Arrival()).UTC().Format(time.TimeOnly+".000"), time.Duration(e.Took))
	// Output: GET /cart at 03:56:13.750, took 250ms
}
