// Package events is what virtual time runs on: a heap of what will happen, and a line
// that is first come, first served. Both hold values, and neither decides anything.
package events
