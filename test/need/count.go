package need

import (
	"os"
	"strconv"
	"testing"
)

// Count is how often a test is to do something: what the environment variable says, or
// usual where it says nothing. It fails the test over anything but a positive number.
func Count(t testing.TB, env string, usual int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: it is a number such as 1000000", env, text)
	}
	return n
}
