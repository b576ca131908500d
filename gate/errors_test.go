package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// What errors.Is and errors.As find in a refusal.
func TestRefusal(t *testing.T) {
	for _, why := range reason.All() {
		var contextErr error
		switch why {
		case reason.CallerGone:
			contextErr = context.Canceled
		case reason.Expired, reason.Timeout:
			contextErr = context.DeadlineExceeded
		}
		t.Run(why.String(), func(t *testing.T) {
			err := fmt.Errorf("checkout: %w", &gate.Refusal{Reason: why, RetryAfter: 1500 * time.Millisecond, Class: "checkout"})
			if !errors.Is(err, gate.ErrRefused) || !errors.Is(err, why) {
				t.Error("is neither ErrRefused nor its reason")
			}
			for _, other := range reason.All() {
				if other != why && errors.Is(err, other) {
					t.Errorf("is %v as well", other)
				}
			}
			for _, c := range []error{context.Canceled, context.DeadlineExceeded} {
				if errors.Is(err, c) != (c == contextErr) {
					t.Errorf("is %v: %v", c, errors.Is(err, c))
				}
			}
			r, ok := errors.AsType[*gate.Refusal](err)
			if !ok || r.Reason != why || r.RetryAfter != 1500*time.Millisecond || r.Class != "checkout" {
				t.Errorf("as: %+v", r)
			}
			if s := err.Error(); !strings.Contains(s, why.String()) || !strings.Contains(s, "1.5s") {
				t.Errorf("says %q", s)
			}
		})
	}
}
