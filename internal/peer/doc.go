// Package peer opens Unix sockets of one user, and names the user at the other end of one.
//
// Sockets of operators and of the signer take the processes of known users alone. A process
// cannot forge the user id, which comes from the kernel.
package peer
