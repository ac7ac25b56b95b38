package nodetest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// opcodes of the Ethereum machine that the contracts of tests use.
var opcodes = map[string]byte{
	"STOP": 0x00, "ADD": 0x01, "SUB": 0x03, "LT": 0x10, "EQ": 0x14, "ISZERO": 0x15, "SHR": 0x1c,
	"CALLER": 0x33, "CALLVALUE": 0x34, "CALLDATALOAD": 0x35, "CALLDATASIZE": 0x36, "CALLDATACOPY": 0x37,
	"POP": 0x50, "MSTORE": 0x52, "SLOAD": 0x54, "SSTORE": 0x55, "JUMP": 0x56, "JUMPI": 0x57, "GAS": 0x5a,
	"JUMPDEST": 0x5b, "DUP1": 0x80, "DUP2": 0x81, "LOG3": 0xa3, "CALL": 0xf1, "RETURN": 0xf3, "REVERT": 0xfd, "INVALID": 0xfe, "SELFDESTRUCT": 0xff,
}

const (
	push1 = 0x60
	// labelBytes is the size of a jump's destination.
	labelBytes = 2
)

// assemble returns the code of a text: names of opcodes, numbers that are pushed in their shortest
// form, `label:` for a destination of jumps, and `@label` to push it.
func assemble(text string) []byte {
	var code []byte
	labels, uses := map[string]int{}, map[int]string{}
	for _, word := range strings.Fields(text) {
		op, known := opcodes[word]
		switch {
		case known:
			code = append(code, op)
		case strings.HasSuffix(word, ":"):
			labels[word[:len(word)-1]] = len(code)
			code = append(code, opcodes["JUMPDEST"])
		case word[0] == '@':
			uses[len(code)+1] = word[1:]
			code = append(code, push1+labelBytes-1, 0, 0)
		default:
			code = append(code, push(word)...)
		}
	}
	for at, name := range uses {
		to, known := labels[name]
		if !known {
			panic("no label " + name)
		}
		code[at], code[at+1] = byte(to>>8), byte(to)
	}
	return code
}

// push returns the code that pushes a number, 0x and an even number of digits or decimal.
func push(word string) []byte {
	digits, isHex := strings.CutPrefix(word, "0x")
	if !isHex {
		n, err := strconv.ParseUint(word, 10, 8)
		if err != nil {
			panic(err)
		}
		digits = fmt.Sprintf("%02x", n)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return append([]byte{push1 + byte(len(b)-1)}, b...)
}

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

// token is an ERC-20 token of six decimals, whose balances are in storage by address. A transfer of
// more than the sender has returns false and logs nothing, as old tokens do. Function 0x00000001
// makes several transfers: pairs of address and amount follow.
var token = assemble(`
	0 CALLDATALOAD 0xe0 SHR
	DUP1 0xa9059cbb EQ @transfer JUMPI
	DUP1 0x70a08231 EQ @balance JUMPI
	DUP1 0x313ce567 EQ @decimals JUMPI
	DUP1 1 EQ @many JUMPI
	0 0 REVERT

	transfer:
	0x24 CALLDATALOAD CALLER SLOAD DUP2 DUP2 LT @false JUMPI
	SUB CALLER SSTORE
	0x24 CALLDATALOAD 4 CALLDATALOAD SLOAD ADD 4 CALLDATALOAD SSTORE
	0x24 CALLDATALOAD 0 MSTORE
	4 CALLDATALOAD CALLER ` + transferTopic + ` 0x20 0 LOG3
	1 0 MSTORE 0x20 0 RETURN
	false: 0 0 MSTORE 0x20 0 RETURN

	balance: 4 CALLDATALOAD SLOAD 0 MSTORE 0x20 0 RETURN
	decimals: 6 0 MSTORE 0x20 0 RETURN

	many: 4
	loop: CALLDATASIZE DUP2 LT ISZERO @done JUMPI
	DUP1 0x20 ADD CALLDATALOAD DUP2 CALLDATALOAD
	DUP2 CALLER SLOAD SUB CALLER SSTORE
	DUP2 DUP2 SLOAD ADD DUP2 SSTORE
	DUP2 0 MSTORE
	DUP1 CALLER ` + transferTopic + ` 0x20 0 LOG3
	POP POP 0x40 ADD @loop JUMP
	done: STOP`)

// pass pays the value of its call to the address in the first word of its data.
const pass = `0 0 0 0 CALLVALUE 0 CALLDATALOAD GAS CALL `

var (
	// forwarder pays by a call, which no block shows.
	forwarder = assemble(pass + `STOP`)
	// reverter pays, and then takes everything back.
	reverter = assemble(pass + `0 0 REVERT`)
	// catcher pays through reverter, and does not mind that it fails.
	catcher = assemble(`0 CALLDATALOAD 0 MSTORE 0 0 0x20 0 CALLVALUE ` + reverterAt + ` GAS CALL STOP`)
	// destroyer ends itself in favour of the address in the first word of its data.
	destroyer = assemble(`0 CALLDATALOAD SELFDESTRUCT`)
	// looper runs until its gas is spent.
	looper = assemble(`loop: @loop JUMP`)
	// burner takes all the gas of its call, at once.
	burner = assemble(`INVALID`)
)

// Addresses of the contracts of tests.
const (
	// TokenAt is the address of the token that the sandbox lists.
	TokenAt = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	// FakeAt is the address of a token that is not listed.
	FakeAt      = "0x1000000000000000000000000000000000000001"
	forwarderAt = "0x1000000000000000000000000000000000000002"
	reverterAt  = "0x1000000000000000000000000000000000000003"
	catcherAt   = "0x1000000000000000000000000000000000000004"
	destroyerAt = "0x1000000000000000000000000000000000000005"
	burnerAt    = "0x1000000000000000000000000000000000000006"
	looperAt    = "0x1000000000000000000000000000000000000007"
)
