// Package limit says how many requests may hold a slot of a resource at once.
//
// A limit belongs to the resource, not to a class: one control loop however
// many classes use it. [Fixed] is the operator's own figure; limits that
// follow what is measured stand behind the same interface.
package limit
