// Package typist knows which words are likely: a global model and one of each
// writer over it, and a list that is the same for everybody.
//
// A model counts words and pairs of words. How likely a word is after another is a
// mixture of four shares (Jelinek and Mercer 1980): of the writer's pairs, of the
// writer's words, of everybody's pairs, of everybody's words. The list is
// everybody's words alone. Neither learns while it is asked.
package typist
