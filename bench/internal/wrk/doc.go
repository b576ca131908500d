// Package wrk runs wrk, the closed-loop HTTP load generator, and reads what it
// prints. See https://github.com/wg/wrk; Debian has it as a package.
package wrk
