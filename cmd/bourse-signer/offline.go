package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer/vault"
)

// offlineCmd signs what leaves cold storage. It needs no network, and no exchange.
type offlineCmd struct {
	Init offlineInit `cmd:"" help:"Make a key of cold storage: its seed, and settings that pin what it signs."`
	Sign offlineSign `cmd:"" help:"Sign a PSBT that brings coins from cold storage to the hot wallet."`
}

// offlineFile has the settings of a key of cold storage.
const offlineFile = "offline.yaml"

type offlineInit struct {
	Dir        string   `arg:"" help:"Directory of the key; made if missing." type:"path"`
	Params     string   `help:"The network: mainnet, testnet4, signet, regtest, litecoin-mainnet, …" required:""`
	Recipients []string `help:"Encrypt the seed to this recipient of age, in place of a passphrase; may be repeated." name:"recipient" placeholder:"age1…"`
	Seal       sealing  `embed:""`
}

// Run makes the key. It changes nothing that is there.
func (c *offlineInit) Run(p *program) (err error) {
	seed, err := vault.NewSeed()
	if err != nil {
		return err
	}
	one, several, err := vault.ColdKeys(c.Params, seed)
	if err != nil {
		return err
	}
	d, err := disk.Open(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if _, err := disk.ReadFile(d, seedFile); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has a seed already", c.Dir)
	}

	lock := &vault.Lock{Passphrase: c.Seal.Passphrase, Recipients: c.Recipients}
	sealed, err := lock.Seal(seed)
	if err != nil {
		return err
	}
	if err := disk.Replace(d, seedFile, seedFile+".tmp", sealed); err != nil {
		return err
	}
	settings := filepath.Join(c.Dir, offlineFile)
	text := fmt.Sprintf("params: %s\nhot: \"\"        # the exchange's setting keys\ncold: \"\"       # its setting cold\n"+
		"max-cost: \"\"   # the most that a transaction costs, in whole coins\n", c.Params)
	if err := create(settings, []byte(text)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s is a key of cold storage. Write both descriptors into %s.\n"+
		"alone    wpkh(%s)\nof many  %s\n", c.Dir, settings, one, several)
	return err
}

type offlineSign struct {
	Dir      string  `arg:"" help:"Directory of the key." type:"path"`
	File     string  `arg:"" help:"PSBT, as bytes or in base64." type:"existingfile"`
	Out      string  `help:"New file for the PSBT with the signatures, in base64." required:"" placeholder:"FILE" type:"path"`
	Identity string  `help:"age identity file that decrypts the seed." placeholder:"FILE" type:"path"`
	Seal     sealing `embed:""`
}

// Run signs. It prints the amounts, which the person compares with the agreement.
func (c *offlineSign) Run(p *program) error {
	f, err := os.Open(filepath.Join(c.Dir, offlineFile))
	if err != nil {
		return err
	}
	settings, err := vault.ReadOffline(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	sealed, err := os.ReadFile(filepath.Join(c.Dir, seedFile))
	if err != nil {
		return err
	}
	lock := &vault.Lock{Passphrase: c.Seal.Passphrase, Identity: c.Identity}
	seed, err := lock.Open(sealed)
	if err != nil {
		return err
	}
	key, err := settings.Open(seed)
	if err != nil {
		return err
	}

	draft, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	signed, moved, err := key.Sign(draft)
	if err != nil {
		return fmt.Errorf("%s is not signed: %w", c.File, err)
	}
	if err := create(c.Out, []byte(signed+"\n")); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s to the hot wallet, %s\n%s back to cold storage\n%s cost\n%d inputs are signed in %s\n",
		moved.Hot.Format(8), moved.Address, moved.Back.Format(8), moved.Cost.Format(8), moved.Signed, c.Out)
	return err
}
