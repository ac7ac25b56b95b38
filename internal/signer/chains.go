package signer

import "strings"

// testChains are the chains whose coins are worth nothing, by their identity: the hash of the
// first block for the family of Bitcoin, the chain's id for those of Ethereum and Cosmos. A
// sandbox hands out credits for nothing, and is connected to no other chain. The list is the
// signer's own, so that no setting can lengthen it.
var testChains = map[string]bool{
	"bitcoin:00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043": true, // testnet4
	"bitcoin:00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6": true, // signet
	"bitcoin:0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206": true, // regtest
	"bitcoin:683e86bd5c6d110d91b94b97137ba6bfe02dbbdb8e3dff722a669b5d69d77af6": true, // simnet
	"bitcoin:530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9": true, // Litecoin's regtest
	"evm:1337":        true, // geth --dev
	"evm:31337":       true, // anvil
	"evm:11155111":    true, // Sepolia
	"evm:560048":      true, // Hoodi
	"evm:97":          true, // BNB Smart Chain's testnet
	"evm:80002":       true, // Polygon's Amoy
	"evm:43113":       true, // Avalanche's Fuji
	"cosmos:dev-1":    true,
	"cosmos:provider": true, // the Cosmos Hub's testnet
}

// embeddedChain begins the identities of the embedded networks.
const embeddedChain = "devnet:"

// IsTestChain reports whether the coins of a chain are worth nothing.
func IsTestChain(identity string) bool {
	return testChains[identity] || strings.HasPrefix(identity, embeddedChain)
}

// isEmbedded reports whether a chain is one of the embedded networks.
func isEmbedded(identity string) bool { return strings.HasPrefix(identity, embeddedChain) }
