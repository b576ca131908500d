// Package pressure reads how short a process is of processor and memory, as the
// kernel and the Go scheduler know it, for limits that are to give way before
// latency shows why.
//
//	cpu           part of the control group's processor quota that is used
//	memory        part of its memory limit that is used, without what can be dropped at once
//	cpu_stall     part of the last ten seconds in which work waited for a processor
//	memory_stall  part of them in which work waited for memory
//	scheduler     how long goroutines wait to be run, the 99th percentile
//
// A [Reader] reads control groups of version 2 (cpu.stat, cpu.max, memory.current,
// memory.max, memory.high, memory.stat), the kernel's pressure stall information
// (cpu.pressure, memory.pressure; where the group has none, the machine's
// /proc/pressure), and the Go runtime's own histogram. Whatever is not there, or
// cannot be read, or makes no sense, is not known; a signal that is not known says
// nothing and holds nobody back. Nothing is kept open, nothing blocks but the
// reading of files that the kernel answers from memory, some tens of microseconds
// in all: read once a second, not once a request.
//
// [Limits.Signals] makes of a reading how near each signal is to what is allowed, 1
// being there, and [Most] says which presses most.
package pressure
