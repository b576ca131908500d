// Package html makes pages that stand alone: one file, no request to anywhere,
// readable from disk, on paper and on a phone, in light and dark.
//
// A [Page] is findings, sections and how to repeat the run, in this order.
// [Traffic] makes the page of a traffic report; the labs compose their own of
// [Prose], [River], [Lines], [Bars] and [Table]. Charts are SVG drawn here, in
// three widths of which the style sheet shows one, so that type is never
// scaled; every chart carries its table and "copy as CSV". The script adds the
// crosshair and the copying; without it nothing is missing but these two.
//
// Every text of a page may come from a caller: it is shown as text, whatever it
// holds.
package html
