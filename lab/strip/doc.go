// Package strip is the experiment with a keyboard's suggestion strip whose load
// doubles: the personalised scorer cannot serve every keystroke, so which of them
// take the frequency list instead?
//
// The text is real, or the bundled one (lab/strip/text); a model of everybody and one
// of each writer over it (lab/strip/typist) and the list say for each keystroke
// whether the word that is being typed stands among their three suggestions. The text
// is cut in three: the models learn from the first part, on the second the gap between
// the two answers is measured by the length of the prefix and what is known of the
// word before, and the third is typed, by as many writers at once as make the load.
//
// Each arm is a scenario of package sim. Who is answered by what is the class's shed
// law, waiting room and ladder, which are those that serve runs; a policy is a
// configuration of them and what requests say of themselves: no gap, no session, a
// rule of thumb for the gap, or the measured one. Only the arm seed_rule, whose rule
// is no part of Spillway, routes its keystrokes itself.
package strip
