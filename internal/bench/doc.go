// Package bench measures the parts of the exchange, behind `bourse bench`.
//
// It assembles parts the way node does, feeds them a workload, and reports figures.
// Nothing that runs an exchange imports it. docs/performance.md explains the figures and
// records them.
package bench
