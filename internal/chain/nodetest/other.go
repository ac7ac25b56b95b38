package nodetest

import (
	"slices"
	"strings"
)

// RunOther starts the node's process, which was stopped, at the same address on another chain of its family: testnet in
// place of regtest, or btcd's regtest in place of simnet. It has the first block alone and connects to no peer.
func (n *Node) RunOther() {
	n.t.Helper()
	usual, k := n.Kind, *n.Kind
	k.args = func(dir, port string) []string {
		args := slices.DeleteFunc(usual.args(dir, port), func(arg string) bool { return strings.HasPrefix(arg, "-vbparams=") })
		for i, arg := range args {
			switch arg {
			case "-regtest":
				args[i] = "-testnet"
			case "--simnet":
				args[i] = "--regtest"
			}
		}
		if k.bare {
			return args
		}
		return append(args, "-connect=0", "-dnsseed=0")
	}
	n.Kind = &k
	n.Run()
	n.Kind = usual
}
