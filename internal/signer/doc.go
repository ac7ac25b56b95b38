// Package signer holds the keys of the exchange's money, and signs nothing that
// it has not understood.
//
// It stands behind an interface as narrow as a connection, so that it can be a
// process of its own: what it is asked for is bytes and what they are expected
// to do. The wallet asks, and is not trusted: the signer decodes the bytes by
// its own means, holds every output, the payer and the cost against what was
// journaled, keeps its own record of what it signed, and has limits that the
// wallet knows nothing of.
//
// Invariants:
//
//   - For one withdrawal and attempt at most one transaction is ever signed, also
//     after a crash: the record, which has its bytes, is durable before the
//     signature leaves. Whoever asks again, also with other bytes, gets that one,
//     if it does what is expected; a crash between the record and the journal
//     leaves nothing stuck and nothing signed twice.
//   - A further attempt needs the one before it. It is for a withdrawal whose
//     transaction an operator gave up in the journal, or whose transaction never
//     went on record there, and so never left, and cannot any more because what
//     it spends was spent otherwise.
//   - Sweeps and top-ups stay ours, are not on record, and may be signed again in
//     another form: a chain takes one of those with the same nonce.
//   - Money leaves to the withdrawal's destination, to the exchange's own change
//     or hot wallet, to one of its deposit addresses as a top-up, or as a cost
//     below the limit of the network. Nowhere else.
//   - A record that is damaged anywhere but at its very end keeps the signer from
//     opening: forgetting what was signed is how one pays twice.
//
// Reading order: signer.go, check.go, record.go. Not here: when to sign, and
// what became of it.
package signer
