// Package p2pv1 is the REST interface V1 of trading between persons, under /p2p, which this
// exchange does not offer: its lists are empty, so that clients that ask for them go on.
//
// It stands at the edge, on api.
package p2pv1
