// Package notice holds the operators' public notices: banners, popups and announcements.
//
// A [Board] keeps the live notices in memory, for readers, and all notices in a [Store], where
// operators also find the ended ones. A notice moves no money and grants nothing, so that it
// is not journaled, and its row has no digest.
//
// Invariants: ids rise and are never given twice, because clients remember the last one
// that a person saw; a live notice is in the store; there are at most mostLive live ones.
//
// Not here: the tables (sqlstore/accounts), the verbs of operators (api/admin), and the
// endpoints (api/infov1).
//
// Read notice.go, then board.go.
package notice
