// Package segments prepares, extends and repairs the files of segments for the logs that
// write them, filelog and raftlog.
//
// [Spare] is the next segment: zeros that are durable before an entry needs them. [Keep] and
// [Zero] cut a torn end after copying it; [Confirm] makes the last entries durable again after
// a start.
//
// A full disk is an error that [IsFull] tells from all others: nothing was written, and the
// log may go on.
//
// Not here: the bytes of segments (package journal), and when they are written.
package segments
