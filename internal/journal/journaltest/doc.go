// Package journaltest is the suite that every journal.Log passes.
//
// An adapter's test calls [Run] with a [Harness], which opens its log and kills its
// process. Adapters offer more by further interfaces: [Compactor], and [Replicated] for
// logs that other processes write too. Run includes their tests if the harness implements
// them.
//
// Not here: promises of a single adapter, such as how its files may be damaged.
package journaltest
