// Package certificate holds an exchange's TLS certificate: read from files, or obtained
// from an authority by ACME and renewed.
//
// It stands below node, whose listener takes [Source.Config]. Reload reads the files, or
// asks the authority, again; Run follows renewals.
//
// Invariants: a stranger's handshake causes no order at an authority; if a certificate
// cannot be read again, the old one stays. docs/adr/0042 has the reasons.
package certificate
