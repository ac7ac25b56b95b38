// Package journaltest is the suite that every journal.Log passes.
//
// An adapter's test calls [Run] with a [Harness], which opens its log and kills
// the process that has it. What an adapter can do beyond that it offers by
// further interfaces: [Compactor], and [Replicated] for logs that other processes
// write too. Their parts of the suite run if they are there.
//
// Not here: what only one adapter promises, such as how its files may be damaged.
package journaltest
