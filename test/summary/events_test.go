package main

import "fmt"

// The events of `go test -json`, for the stories.

func out(pkg, test, text string) string { return line("output", pkg, test, text+"\n", 0) }
func pass(pkg, test string) string      { return line("pass", pkg, test, "", 0) }
func fail(pkg, test string) string      { return line("fail", pkg, test, "", 0) }
func skip(pkg, test string) string {
	return out(pkg, test, "--- SKIP: "+test) + line("skip", pkg, test, "", 0)
}

func end(pkg, action string, seconds float64) string { return line(action, pkg, "", "", seconds) }

func line(action, pkg, test, output string, seconds float64) string {
	return fmt.Sprintf("{%q:%q,%q:%q,%q:%q,%q:%q,%q:%v}\n",
		"Action", action, "Package", pkg, "Test", test, "Output", output, "Elapsed", seconds)
}
