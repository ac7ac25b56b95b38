// Package sim runs whole exchanges in simulated time, with faults, from a seed.
//
// It stands beside node: it puts the same parts together, over a disk and a
// history store that fail, a clock that jumps and clients that lose answers and
// ask again. It has one goroutine, and no sequencing, journal or recovery logic
// of its own: it steps the real sequencer, the log on files, the follower, its
// snapshots and the archive, in an order that the seed draws.
//
// A seed draws its own shapes (markets, accounts, prices, kinds of orders, sizes
// of segments, how often snapshots are taken) and its own rates of faults: power
// cuts between any two operations of the disk, also while starting, after which
// each sector and name that was not synced survived or not; processes killed at
// the same places; syncs, writes and other operations that fail, writes that end
// early, a disk that is full; bits flipped while reading, and media that decayed;
// parts that are slow; a history store that fails, goes back or is deleted; clocks
// that jump.
//
// In half of the seeds there are networks, and customers who deposit and withdraw.
// The real wallets, signer and embedded networks are stepped with the rest: a
// wallet waits for its commands while everything else goes on. Chains are
// reorganised; payments are dropped and replaced; nodes are silent, behind, lie,
// crash, answer twice or not at all; the process and the signer end between any
// two steps of a wallet.
//
// Beside the exchange stands the truth: what the journal ever yielded, carried
// out by an engine that never stops and by a naive oracle. Checked are:
//
//   - what was yielded is yielded again, the same commands with the same events,
//     after whatever happened; so is all that was acknowledged (I18, I20)
//   - the live engine, the follower, a replay from the beginning and one from each
//     snapshot have one state hash (I21), and the invariants of money and books
//     hold in each
//   - views show what the engine has; the history store at its cursor is the fold
//     of the events (I24), and pages cover what was announced; candles and tickers
//     follow from the trades (I17)
//   - an order that was acknowledged is found at once (I25)
//   - a client id that comes again gets its first answer, also after a crash (I27)
//   - a sync that fails stops the process; damage before the watermark stops a
//     start; no error comes without a fault that explains it
//   - a start finds a snapshot that history has reached, and needs no archive
//   - after every block that a wallet has taken in, a network's account in the
//     ledger owes what the chain says the exchange has (I10); a deposit is credited
//     once, and at the end each withdrawal was paid once or canceled (I8, I9)
//   - the oracle's balances follow from statuses of deposits and withdrawals alone
//   - once the faults end, everything that was asked gets its answer, the
//     follower catches up, every withdrawal is done or canceled and every deposit
//     credited
//
// Most of these checks, snapshots and starts cost by how much there is. A simulation
// of many commands therefore has as many of them, and of faults, as a usual one of
// 5,000, with more in between; what is compared for each command stays for each.
//
// Every seed is run twice, and both runs must have seen the same. Over a whole run,
// each kind of fault must have happened.
//
// `make sim` is the gate, `make sim SEED=n` repeats a seed; a plain `go test` runs a
// few. Seeds that failed are kept in testdata/seeds.txt and run first.
//
// Out of the model: commands that operators void, which would change the past;
// damage of the last frame on the medium before anything was written behind it.
//
// Read sim.go, then world.go, process.go, faults.go and truth.go; for the networks
// wallets.go, chains.go, customers.go and paid.go. Not here: HTTP, SQLite, and
// anything with goroutines.
package sim
