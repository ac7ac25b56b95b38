package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/vault"
)

// The files in a signer's directory, beside those of its record.
const (
	seedFile     = "seed.age"
	settingsFile = "signer.yaml"
	lockFile     = "lock"
	operateFile  = "operate.sock"
)

// sealing says how the seed's file is encrypted.
type sealing struct {
	Passphrase string `help:"File whose first line is the passphrase that encrypts the seed, 12 bytes or more." name:"passphrase-file" placeholder:"FILE" type:"path"`
}

// exchangeID is the id of an exchange.
type exchangeID signer.ExchangeID

// UnmarshalText reads 32 hex digits.
func (x *exchangeID) UnmarshalText(text []byte) error {
	return (*signer.ExchangeID)(x).UnmarshalText(text)
}

type initCmd struct {
	Dir         string     `arg:"" help:"Directory of the signer; made if missing." type:"path"`
	Exchange    exchangeID `help:"Id of the exchange that the signer signs for: 32 hex digits, as /spot/config shows it. Only with --sandbox it may be left out: the first sandbox that connects is taken." placeholder:"ID"`
	Sandbox     bool       `help:"The exchange is a sandbox; the signer then signs for test chains alone."`
	Incarnation uint32     `help:"The incarnation of the exchange." default:"1"`
	Recipients  []string   `help:"Encrypt the seed to this recipient of age, in place of a passphrase; may be repeated." name:"recipient" placeholder:"age1…"`
	Seal        sealing    `embed:""`
}

// Run makes the signer. It changes nothing that is there.
func (c *initCmd) Run(p *program) (err error) {
	d, err := disk.Open(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if _, err := disk.ReadFile(d, seedFile); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has a seed already", c.Dir)
	}

	seed, err := vault.NewSeed()
	if err != nil {
		return err
	}
	lock := &vault.Lock{Passphrase: c.Seal.Passphrase, Recipients: c.Recipients}
	sealed, err := lock.Seal(seed)
	if err != nil {
		return err
	}
	known, err := vault.Known(seed, c.Sandbox)
	if err != nil {
		return err
	}

	at := signer.Epoch{Incarnation: bourse.Incarnation(c.Incarnation)}
	if err := signer.Create(d, signer.Exchange{ID: signer.ExchangeID(c.Exchange), Sandbox: c.Sandbox}, at); err != nil {
		return err
	}
	if err := disk.Replace(d, seedFile, seedFile+".tmp", sealed); err != nil {
		return err
	}
	settings := filepath.Join(c.Dir, settingsFile)
	if err := create(settings, []byte(firstSettings)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return p.describe(c.Dir, known)
}

// firstSettings are settings under which nothing is signed.
const firstSettings = `# Settings of bourse-signer. Amounts are in whole coins; one that is missing is zero, and zero lets nothing leave.
networks: {}
#  BTC:
#    params: regtest            # mainnet, testnet4, signet, regtest, simnet, litecoin-mainnet, litecoin-regtest; devnet
#    max-cost: "0.001"          # of one transaction, in the network's own coin
#    hour-cost: "0.01"          # of all transactions of an hour
#    coins:                     # by symbol, or by contract
#      BTC: {payment: "1", hour: "5", day: "20", free: "0.1"}   # above free: allow-listed for a day, or approved
#    allow: []                  # - {address: bc1…, memo: …}
#    cold: "wsh(sortedmulti(2,[…]xpub…/0/*,…))"   # the exchange's cold storage, from another seed
#  ETH:
#    adapter: evm
#    params: 1                  # the chain id
#    max-cost: "0.01"           # of one transaction, and the most that a deposit's address gets for its sweep
#    hour-cost: "0.1"
#    coins:
#      ETH: {payment: "10", hour: "20", day: "50", free: "1"}
#      "0xdAC17F958D2ee523a2206206994597C13D831ec7": {decimals: 6, payment: "20000", hour: "40000", day: "100000", free: "2000"}
#  ATOM:
#    adapter: cosmos
#    params: cosmoshub-4        # the chain id
#    max-cost: "0.05"
#    hour-cost: "1"
#    coins:                     # by symbol, or by denomination with its decimals
#      ATOM: {payment: "100", hour: "500", day: "2000", free: "10"}
#approvers: {need: 2, keys: []} # public keys in hex, as bourse-signer approver prints them
`

// describe prints the public keys.
func (p *program) describe(dir string, known []vault.Described) error {
	_, err := fmt.Fprintf(p.stdout, "%s is a signer. Set its limits in %s.\nPublic keys, for the exchange's setting keys:\n",
		dir, filepath.Join(dir, settingsFile))
	for _, a := range known {
		if err == nil {
			_, err = fmt.Fprintf(p.stdout, "%-5s %-16s %s\n", a.Name, a.Params, a.Public)
		}
	}
	return err
}

// create writes a new file, which its owner alone reads.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names the path
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

type certifyCmd struct {
	Dir string `arg:"" help:"Directory of the files cert.pem and key.pem; made if missing." type:"path"`
}

// Run makes the files.
func (c *certifyCmd) Run(p *program) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	cert, key, pin, err := pinned.Certify(time.Now())
	if err != nil {
		return err
	}
	if err := create(filepath.Join(c.Dir, "key.pem"), key); err != nil {
		return err
	}
	if err := create(filepath.Join(c.Dir, "cert.pem"), cert); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, pin)
	return err
}

type approverCmd struct {
	File string `arg:"" help:"File of the private key." type:"path"`
}

// Run makes the key and prints its public half.
func (c *approverCmd) Run(p *program) error {
	seed, err := vault.NewSeed()
	if err != nil {
		return err
	}
	if err := create(c.File, []byte(hex.EncodeToString(seed[:])+"\n")); err != nil {
		return err
	}
	key, err := readApprover(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%x\n", key.Public())
	return err
}
