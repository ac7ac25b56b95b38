// Package bench measures the parts of the exchange, behind `bourse bench`.
//
// It stands beside node: it puts parts together the way node does, feeds them a
// workload, and reports figures. It decides nothing and is not imported by
// anything that runs an exchange. docs/performance.md says what the figures
// mean and what they were.
package bench
