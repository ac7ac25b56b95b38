// Package sim runs whole exchanges in simulated time, with faults, from a seed.
//
// It assembles the same parts as node, over a disk and a history store that fail, a clock
// that jumps and clients that lose answers and repeat requests. It has one goroutine, and
// no sequencing, journal or recovery logic of its own: it steps the real sequencer, the
// log on files, the follower, its snapshots and the archive, in an order that the seed
// draws.
//
// A seed draws its own shapes (markets, accounts, prices, kinds of orders, segment sizes,
// intervals of snapshots) and its own rates of faults: power cuts between any two
// operations of the disk, also during a start, after which each unsynced sector and name
// survives or not; processes killed at the same points; syncs, writes and other
// operations that fail, short writes, a full disk; bits flipped in reads, and decayed
// media; slow parts; a history store that fails, goes back or is deleted; clocks that
// jump.
//
// Half of the seeds have networks, and customers who deposit and withdraw. The real
// wallets, signer and embedded networks are stepped with the rest: a wallet waits for its
// commands while everything else continues. Chains are reorganised; payments are dropped
// and replaced; nodes are silent, behind, lie, crash, answer twice or not at all; the
// process and the signer crash between any two steps of a wallet.
//
// The truth stands beside the exchange: every command that the journal yielded, applied
// by an engine that never stops and by a naive oracle. The simulation checks:
//
//   - a batch that was yielded is yielded again, the same commands with the same events,
//     after any fault; so is every acknowledged command (I18, I20)
//   - the live engine, the follower, a replay from the beginning and one from each
//     snapshot have one state hash (I21), and the invariants of money and books
//     hold in each
//   - views agree with the engine; the history store at its cursor is the fold
//     of the events (I24), and pages cover everything announced; candles and tickers
//     follow from the trades (I17)
//   - an acknowledged order is found at once (I25)
//   - a repeated client ID gets its first answer, also after a crash (I27)
//   - a failed sync stops the process; damage before the watermark stops a
//     start; every error is explained by a fault
//   - a start finds a snapshot that history has reached, and needs no archive
//   - after every block that a wallet has processed, a network's account in the
//     ledger owes as much as the exchange has on the chain (I10); a deposit is credited
//     once, and at the end each withdrawal was paid once or canceled (I8, I9)
//   - the oracle's balances follow from statuses of deposits and withdrawals alone
//   - once the faults end, every request is answered, the follower catches up,
//     every withdrawal is done or canceled and every deposit credited
//
// The cost of most checks, snapshots and starts grows with the state. A long simulation
// therefore has as many of them, and of faults, as a usual one of 5,000 commands, with
// more commands in between; comparisons of each command stay.
//
// Every seed runs twice, and both runs must observe the same. Over a whole run of seeds,
// each kind of fault must have happened.
//
// `make sim` is the gate, `make sim SEED=n` and `make sim-cluster SEED=n` repeat a seed; a
// plain `go test` runs a few. Failed seeds of exchanges are kept in testdata/seeds.txt and run
// first.
//
// Clusters have a world of their own: three logs of package raftlog with the real engine
// behind each, over three disks and a network that loses, delays, repeats and cuts messages,
// also one way. Processes are killed, stand still and lose their power between any two
// operations; disks fail, rot, hang, crawl and are lost; clocks jump; programs are upgraded, and go back while the log has
// nothing newer; starts begin from snapshots; leaders change the members, and
// admit a node that lost its disk under another id, and one of a new number in the place of another that runs, which
// leaves before, with or behind the vote of the new one and runs on for a while; a node applies entries slowly; engines
// fall behind their logs, also while the lead is lost and won again; segments go to the archive; clients send batches to
// whichever node takes them, and read at nodes that were told that they lead. The truth is every batch that any node yielded.
// The simulation checks:
//
//   - no node yields another batch at a sequence, and no batch is committed twice
//   - a leader that opens has all that was acknowledged in earlier terms; a term has one leader
//   - a batch that was said to be dropped is never committed
//   - a read that a majority confirmed shows all that clients knew when it began
//   - a start finds all that the node yielded or waits for a leader, and refuses a byte that
//     decayed below the watermark, and a promise older than the node's entries
//   - a byte that rots below the watermark, in an entry that another node has, is mended from it, also after a crash
//     inside that, and the node goes on
//   - a node that lost its disk begins with the leader's archive, catches up, and votes in the place of its former life,
//     and so does one that replaces another
//   - a node that is made the only one, also after a crash inside that, has all that it yielded or knew to be
//     committed, and leads
//   - nodes that have applied the same entries have the same voters
//   - no node has a command that its program does not know, but one that was started with an older program in the moment
//     of an upgrade
//   - once the faults end, all nodes have one state, and the cluster takes commands
//
// Raft draws its timeouts from crypto/rand.Reader, which RunCluster replaces: clusters run one
// after the other.
//
// Out of the model: voided commands, which would change the past; damage of the last
// frame on the medium before anything was written behind it.
//
// Read sim.go, then world.go, process.go, faults.go and truth.go; for the networks
// wallets.go, chains.go, customers.go and paid.go; for clusters cluster.go, cluster_member.go,
// cluster_members.go, cluster_damage.go, cluster_loss.go, cluster_replace.go, cluster_recovery.go, cluster_wire.go,
// cluster_versions.go, cluster_faults.go, cluster_reads.go and cluster_truth.go. Not here: HTTP, SQLite, and anything with goroutines.
package sim
