// Package conform is what every store of a ledger must do: one suite, run over each.
package conform
