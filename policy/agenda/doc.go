// Package agenda keeps what is due and when: the earliest instant first, ties
// in the order of entry. It is what turns "wake me when something could
// change" into a single instant for a driver to arm one timer on. While one time limit
// holds for all, what is set comes in the order in which it is due, and is not searched.
package agenda
