// Package icons draws and serves an icon for every asset and network.
//
// It stands at the edge. An icon follows from the symbol alone, so that every listing has
// one: a disc for an asset or a rounded square for a network, in the symbol's colour with
// its first letters.
package icons
