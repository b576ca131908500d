// Package text draws reports for a terminal: the finding in words, the river as
// one line a band, tables with their numbers to the right, how to repeat the
// run. sim, load, demo and the labs share it, so that whoever has read one can
// read all.
//
// Nothing is wider than [Options.Width], colour is never needed to understand,
// and no name, however hostile, can move the cursor or change a colour.
package text
