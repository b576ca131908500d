package main

import (
	"context"
	"time"
)

// completeTime bounds how long the shell waits for what a gateway knows.
const completeTime = time.Second

// classNames are the classes of the gateway that runs, for the shell: none where
// there is none.
func (a *adminClient) classNames(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	var doc struct {
		Pools []struct {
			Class   string `json:"class"`
			Removed bool   `json:"removed"`
		} `json:"pools"`
	}
	if _, err := a.get(ctx, "/debug/pools?items=0", &doc); err != nil {
		return nil
	}
	for _, p := range doc.Pools {
		if !p.Removed {
			names = append(names, p.Class)
		}
	}
	return names
}

// overriddenNames are the classes with an override in force, for the shell.
func (a *adminClient) overriddenNames(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	var doc struct {
		Overrides []struct {
			Class string `json:"class"`
		} `json:"overrides"`
	}
	if _, err := a.get(ctx, "/overrides", &doc); err != nil {
		return nil
	}
	for _, o := range doc.Overrides {
		names = append(names, o.Class)
	}
	return names
}
