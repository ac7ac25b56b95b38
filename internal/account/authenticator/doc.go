// Package authenticator is a virtual authenticator with the browser in front of it, for tests:
// it makes passkeys and signs with them.
//
// It stands where a person's device does, and imports nothing of the exchange. It reads the
// options that a server answers and returns a page's answer, in WebAuthn's JSON forms, with real
// keys and signatures and without attestation. Its fields make it lie.
//
// Out of scope: prompts, and everything that only hardware could prove.
package authenticator
