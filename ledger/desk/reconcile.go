package desk

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// ErrNotUnknown says that the call's end is known, or its owner still has it.
var ErrNotUnknown = errors.New("it is not unknown")

// Reconcile ends the attempt of the call that id names, which is unknown, by evidence:
// known=1 says that it ran and has ended, having used what used says (tokens=120,money=5;
// default: what it was counted with), notstarted=1 that it never ran. attempt may be left
// out where only one is unknown. by is who says so, and stands with the evidence.
func Reconcile(ctx context.Context, l *ledger.Ledger, q url.Values, by string) (*Call, error) {
	known, attempt, err := parseKnown(q)
	if err != nil {
		return nil, err
	}
	id := q.Get("id")
	calls, err := l.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := pick(calls, attempt)
	if err != nil {
		return nil, err
	}
	if !known.NotStarted && !q.Has("used") {
		known.Used = c.Taken
	}
	known.Evidence += " (" + by + ")"
	switch err := l.Reconcile(ctx, id, c.Attempt, known); {
	case errors.Is(err, ledger.ErrUnavailable):
		return nil, err
	case err != nil: // it has ended meanwhile
		return nil, errors.Join(ErrNotUnknown, err)
	}
	is, there, err := l.Find(ctx, id, c.Attempt)
	if err == nil && !there {
		err = ErrNone
	}
	doc := callDoc(is)
	return &doc, err
}

func parseKnown(q url.Values) (k ledger.Known, attempt *int64, err error) {
	if err := only(q, "id", "attempt", "known", "notstarted", "used", "evidence"); err != nil {
		return k, nil, err
	}
	k.NotStarted, k.Evidence = q.Get("notstarted") == "1", strings.TrimSpace(q.Get("evidence"))
	switch {
	case q.Get("id") == "":
		return k, nil, bad("id: name the call")
	case k.NotStarted == (q.Get("known") == "1"):
		return k, nil, bad("say one of the two: known=1, it ran and has ended; notstarted=1, it never ran")
	case k.NotStarted && q.Has("used"):
		return k, nil, bad("used: what never ran used nothing")
	case k.Evidence == "":
		return k, nil, bad("evidence: say how it is known, as in the provider's list of calls of 12:00")
	}
	if text := q.Get("attempt"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return k, nil, bad("attempt: write a number")
		}
		attempt = &n
	}
	k.Used, err = parseAmounts(q.Get("used"))
	return k, attempt, err
}

// pick returns the attempt that is meant.
func pick(calls []ledger.Call, attempt *int64) (c ledger.Call, err error) {
	if len(calls) == 0 {
		return c, ErrNone
	}
	n := 0
	for _, one := range calls {
		if attempt != nil && one.Attempt == *attempt || attempt == nil && one.State == quota.Unknown {
			c, n = one, n+1
		}
	}
	switch {
	case n > 1:
		return c, bad("attempt: several of its attempts are unknown; name one")
	case n == 0 && attempt != nil:
		return c, bad("attempt: there is no attempt %d", *attempt)
	case n == 0:
		return c, ErrNotUnknown
	}
	return c, nil
}

// parseAmounts reads tokens=120,money=5.
func parseAmounts(text string) (a quota.Amounts, err error) {
	if text == "" {
		return a, nil
	}
next:
	for _, pair := range strings.Split(text, ",") {
		name, figure, _ := strings.Cut(pair, "=")
		n, err := strconv.ParseInt(figure, 10, 64)
		if err != nil || n < 0 || n > quota.MostMax {
			return a, bad("used: %q: write UNIT=NUMBER, as in tokens=120", pair)
		}
		for u := range quota.Units {
			if quota.Unit(u).String() == name {
				a[u] = n
				continue next
			}
		}
		return a, bad("used: %q is no unit; there are requests, tokens, input_tokens, output_tokens, money", name)
	}
	return a, nil
}
