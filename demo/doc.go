// Package demo is spillway shown in under a minute: a small real service of
// known capacity is offered twice what it can do, first without and then with
// the gateway in front, over real sockets; and the simulator says, from the
// same configuration and the same requests, what it had expected of both.
//
// Everything runs in one process on loopback and leaves nothing behind.
package demo
