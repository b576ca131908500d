package main

// Exit codes, the same in every command.
const (
	exitDone   = 0
	exitFailed = 1 // it was tried and failed
	exitUsage  = 2 // wrong flags or configuration; nothing was tried
	exitCheck  = 3 // it ran, and a check in its report did not hold
)

// exit is an error with the code that the command ends with. A nil err ends it
// silently: what there was to say has been said.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return "exit"
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exit{exitFailed, err}
}

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exit{exitUsage, err}
}
