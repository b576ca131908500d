// Package text is what is typed in lab strip: sentences of several writers, and a
// list of how often words are used.
//
// [Bundled] is some pages of four writers who have been dead for long enough.
// [Load] reads messages of real writers and the list from a folder that holds
// typing/sms_tokens.jsonl.gz and words/en_50k.txt.
package text
