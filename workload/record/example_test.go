package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spillway-dev/spillway/workload/record"
)

func Example() {
	folder, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "traffic.rec")

	rec, err := record.New(record.Options{Path: path, Classes: []string{"checkout"}, Outcomes: []string{"none", "served", "queue_full"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec.Add(&record.Request{Arrival: 20 * time.Millisecond, Tenant: rec.Hash("acme"), Service: 40 * time.Millisecond, Outcome: 1})
	rec.Add(&record.Request{Arrival: 21 * time.Millisecond, Tenant: rec.Hash("acme"), Outcome: 2})
	if err := rec.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := record.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	var q record.Request
	for r.Next(&q) {
		h := r.Header()
		fmt.Println(q.Arrival, h.Class(&q), h.Outcome(&q), q.Service)
	}
	fmt.Println(r.Stats().Requests, "requests,", r.Stats().Lost, "lost")
	// Output:
	// 20ms checkout served 40ms
	// 21ms checkout queue_full 0s
	// 2 requests, 0 lost
}
