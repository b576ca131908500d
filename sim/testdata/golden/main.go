// Golden prints the fingerprint of the golden run, on whatever processor it was
// built for.
package main

import (
	"fmt"
	"log"

	"github.com/spillway-dev/spillway/sim/internal/golden"
)

func main() {
	fingerprint, err := golden.Fingerprint(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fingerprint)
}
