package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Cold derives the addresses of cold storage from its descriptor: wpkh of one key, or wsh of multi or sortedmulti.
// Taproot is left out, because a spend by its key does not show in a block which address it is from.
type Cold struct {
	params *Params
	text   string
	// need is the number of keys that must sign; zero for wpkh.
	need   int
	sorted bool
	keys   []coldKey
	// tag is made of the descriptor, and is part of its addresses' indices.
	tag uint32
}

// coldKey is an extended key of the descriptor with its origin. The key of address n is its child n.
type coldKey struct {
	fingerprint [4]byte
	// path leads from the origin to parent.
	path   []uint32
	parent *hdkeychain.ExtendedKey
}

const (
	// maxColdKeys bounds the keys of a descriptor. The script of 15 compressed keys is the largest that all nodes relay.
	maxColdKeys = 15
	// maxColdText bounds a descriptor, in bytes.
	maxColdText = 4096
	// maxColdPath bounds the steps from the origin to an address.
	maxColdPath = 10

	opCheckMultiSig = 0xae
)

var (
	errColdForm = errors.New(
		"cold is like wpkh([d34db33f/84h/0h/0h]xpub…/0/*) or wsh(sortedmulti(2,[d34db33f/48h/0h/0h/2h]xpub…/0/*,…))")
	errColdPrivate = errors.New(
		"cold has a private key: the exchange must never see one; make a new one, and write its public key")
	errColdSum = errors.New("cold does not have the checksum that it ends with")
	errColdHot = errors.New("cold has a key of the signer's own seed: it must be from another seed, made offline")
)

// ParseCold reads the descriptor of cold storage, with or without its checksum (BIP 380). Keys have their origins,
// which people who sign need, and end in /*. Errors do not repeat the text: it could have a private key.
func (p *Params) ParseCold(s string) (*Cold, error) {
	text, sum, summed := strings.Cut(s, "#")
	if len(s) > maxColdText {
		return nil, errColdForm
	}
	if wants, ok := descriptorSum(text); summed && (!ok || sum != wants) {
		return nil, errColdSum
	}

	c := &Cold{params: p, text: strings.ReplaceAll(text, "'", "h")}
	list, err := c.parseScript(c.text)
	if err != nil {
		return nil, err
	}
	for _, key := range strings.Split(list, ",") {
		k, err := p.parseColdKey(key)
		if err != nil {
			return nil, err
		}
		same := func(other coldKey) bool { return other.parent.String() == k.parent.String() }
		if slices.ContainsFunc(c.keys, same) {
			return nil, errors.New("cold names a key twice")
		}
		c.keys = append(c.keys, k)
	}

	switch n := len(c.keys); {
	case c.need == 0 && n != 1:
		return nil, errColdForm
	case c.need > n || n > maxColdKeys:
		return nil, fmt.Errorf("cold needs %d of %d keys; 1 to %d keys are taken", c.need, n, maxColdKeys)
	}
	hash := sha256.Sum256([]byte(c.text))
	c.tag = binary.LittleEndian.Uint32(hash[:]) & (1<<chain.ColdTagBits - 1)
	return c, nil
}

// parseScript reads the script around the keys, and returns their list.
func (c *Cold) parseScript(s string) (list string, err error) {
	if inner, ok := enclosed(s, "wpkh"); ok {
		return inner, nil
	}
	inner, ok := enclosed(s, "wsh")
	if !ok {
		return "", errColdForm
	}
	multi, ok := enclosed(inner, "sortedmulti")
	if c.sorted = ok; !ok {
		multi, ok = enclosed(inner, "multi")
	}
	need, list, more := strings.Cut(multi, ",")
	if !ok || !more {
		return "", errColdForm
	}
	if c.need, err = strconv.Atoi(need); err != nil || c.need < 1 || need != strconv.Itoa(c.need) {
		return "", errColdForm
	}
	return list, nil
}

// enclosed returns the text between NAME( and ).
func enclosed(s, name string) (string, bool) {
	s, ok := strings.CutPrefix(s, name+"(")
	s, closed := strings.CutSuffix(s, ")")
	return s, ok && closed
}

// parseColdKey reads [FINGERPRINT/PATH]XPUB/PATH/*.
func (p *Params) parseColdKey(s string) (k coldKey, err error) {
	body, ok := strings.CutPrefix(s, "[")
	origin, rest, closed := strings.Cut(body, "]")
	text, suffix, ranged := strings.Cut(rest, "/")
	if !ok || !closed {
		return k, errColdForm
	}
	key, err := hdkeychain.NewKeyFromString(text)
	switch {
	case err != nil:
		return k, errColdForm
	case key.IsPrivate():
		return k, errColdPrivate
	case !key.IsForNet(p.base):
		return k, fmt.Errorf("cold has a key that is not of %s", p.Name)
	case !ranged:
		return k, errColdForm
	}

	fingerprint, steps, _ := strings.Cut(origin, "/")
	b, err := hex.DecodeString(fingerprint)
	if err != nil || len(b) != len(k.fingerprint) {
		return k, errColdForm
	}
	copy(k.fingerprint[:], b)
	if k.path, err = parsePath(steps, true); err != nil {
		return k, err
	}
	if n := len(k.path); int(key.Depth()) != n || n > 0 && key.ChildIndex() != k.path[n-1] {
		return k, errors.New("cold has an extended key that its origin's path does not lead to")
	}
	return k, k.descend(key, suffix)
}

// descend goes from the extended key to the parent of the addresses' keys.
func (k *coldKey) descend(key *hdkeychain.ExtendedKey, suffix string) error {
	steps, ok := strings.CutSuffix("/"+suffix, "/*")
	if !ok {
		return errColdForm
	}
	below, err := parsePath(strings.TrimPrefix(steps, "/"), false)
	if err != nil {
		return err
	}
	if k.path = append(k.path, below...); len(k.path) >= maxColdPath {
		return errColdForm
	}
	for _, i := range below {
		if key, err = key.Derive(i); err != nil {
			return fmt.Errorf("cold: %w", err)
		}
	}
	k.parent = key
	return nil
}

// parsePath reads the steps of a path; an empty text has none. Only an origin has hardened ones.
func parsePath(s string, origin bool) (path []uint32, err error) {
	if s == "" {
		return nil, nil
	}
	for _, step := range strings.Split(s, "/") {
		number, base := step, uint32(0)
		if cut := strings.TrimRight(step, "h"); len(cut) == len(step)-1 && origin {
			number, base = cut, hdkeychain.HardenedKeyStart
		}
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil || number != strconv.FormatUint(n, 10) {
			return nil, errColdForm
		}
		path = append(path, base+uint32(n))
	}
	return path, nil
}

// String returns the descriptor with h for hardened steps and without a checksum.
func (c *Cold) String() string { return c.text }

// Apart fails if a key of cold storage is from the seed of the exchange's own keys: who has the signer would have
// that key too.
func (c *Cold) Apart(hot *PublicKeys) error {
	_, origin, _ := strings.Cut(hot.String(), "[")
	fingerprint, _, _ := strings.Cut(origin, "/")
	own, err := hex.DecodeString(fingerprint)
	if err != nil {
		return err
	}
	for i := range c.keys {
		if bytes.Equal(c.keys[i].fingerprint[:], own) {
			return errColdHot
		}
	}
	return nil
}

// First returns the index of the first address.
func (c *Cold) First() uint32 { return chain.IndexCold | c.tag<<chain.ColdNumberBits }

// Address returns address n.
func (c *Cold) Address(n uint32) string {
	address, _ := c.params.addressOf(c.script(n))
	return address
}

// script returns the script of address n.
func (c *Cold) script(n uint32) []byte {
	if c.need == 0 {
		return keyHashScript([20]byte(hash160(c.keys[0].child(n))))
	}
	return scriptHashScript(sha256.Sum256(c.witnessScript(n)))
}

// witnessScript returns the script whose hash address n has. Its length is the same for each address.
func (c *Cold) witnessScript(n uint32) []byte {
	keys := c.publicKeys(n)
	script := []byte{op1 - 1 + byte(c.need)}
	for _, key := range keys {
		script = append(append(script, keySize), key...)
	}
	return append(script, op1-1+byte(len(keys)), opCheckMultiSig)
}

// publicKeys returns the keys of address n, in the order of its script.
func (c *Cold) publicKeys(n uint32) [][]byte {
	keys := make([][]byte, len(c.keys))
	for i := range c.keys {
		keys[i] = c.keys[i].child(n)
	}
	if c.sorted {
		slices.SortFunc(keys, bytes.Compare)
	}
	return keys
}

// child returns the public key of address n.
func (k *coldKey) child(n uint32) []byte {
	child, err := k.parent.Derive(n)
	if err != nil { // one key of 2^127 does not exist
		bourse.Impossible("cold address %d: %v", n, err)
	}
	key, err := child.ECPubKey()
	if err != nil {
		bourse.Impossible("cold address %d: %v", n, err)
	}
	return key.SerializeCompressed()
}

// The alphabets of BIP 380's checksum: that of descriptors, in groups of 32, and that of the sum.
const (
	descriptorLetters = "0123456789()[],'/*abcdefgh@:$%{}" +
		"IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	sumLetters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
)

// descriptorSum returns the checksum of a descriptor; false if it has letters that no descriptor has.
func descriptorSum(s string) (string, bool) {
	sum, group, in := uint64(1), 0, 0
	for i := range len(s) {
		at := strings.IndexByte(descriptorLetters, s[i])
		if at < 0 {
			return "", false
		}
		sum = sumStep(sum, at&31)
		group = group*3 + at>>5
		if in++; in == 3 {
			sum, group, in = sumStep(sum, group), 0, 0
		}
	}
	if in > 0 {
		sum = sumStep(sum, group)
	}
	for range 8 {
		sum = sumStep(sum, 0)
	}
	sum ^= 1

	letters := make([]byte, 8)
	for i := range letters {
		letters[i] = sumLetters[sum>>(5*(7-i))&31]
	}
	return string(letters), true
}

// sumStep takes a value of five bits into a checksum.
func sumStep(sum uint64, value int) uint64 {
	top := sum >> 35
	sum = sum&(1<<35-1)<<5 ^ uint64(value)
	for i, generator := range [...]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd} {
		if top>>i&1 != 0 {
			sum ^= generator
		}
	}
	return sum
}
