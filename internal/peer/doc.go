// Package peer names the user at the other end of a Unix socket.
//
// Sockets of operators and of the signer take one user's processes alone; the kernel's word for
// who it is cannot be forged.
package peer
