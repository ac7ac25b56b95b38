package chain

import "github.com/bourse-exchange/bourse"

// Survey is a node's description of itself, for operators.
type Survey struct {
	// Software is the node's name and version.
	Software string
	// Chain is the identity of the node's chain, as signers know it.
	Chain    string
	Head     BlockRef
	HeadTime bourse.Time
	// Behind is the number of blocks that the node knows of and does not have yet.
	Behind    uint64
	Abilities []Ability
}

// Ability is something that a node can do, or cannot.
type Ability struct {
	// Name is a word, as index.
	Name string
	Has  bool
	// Needed is true if the exchange cannot do without.
	Needed bool
	// Text names the node's feature to operators, or the setting that it lacks if Has is false.
	Text string
}
