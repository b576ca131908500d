// Package need lets a test ask for what the machine may not have: a program on
// PATH, a recorded trace. Where it is missing the test is skipped, and the skip
// says what is missing and how to get it, so that the end of `make test` reads as
// a list of things to install. In CI a skip is a failure.
//
//	func TestBehindHAProxy(t *testing.T) {
//		haproxy := need.Command(t, "haproxy")
//		trace := need.Data(t, "azure-llm-2023/AzureLLMInferenceTrace_code.csv")
//		...
//	}
//
// Nothing here installs, starts or changes anything.
package need
