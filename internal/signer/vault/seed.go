package vault

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// Seed is the root of all keys of a signer.
type Seed [32]byte

// NewSeed returns a random seed.
func NewSeed() (s Seed, err error) {
	_, err = rand.Read(s[:])
	return s, err
}

// maxSeedFile bounds a file with a seed, in bytes.
const maxSeedFile = 1 << 20

// Lock says how the file of a seed is encrypted and decrypted: by the first line of a file with
// a passphrase, or to Recipients, whose identities are in a file.
type Lock struct {
	Passphrase string
	Recipients []string
	Identity   string
}

var errLock = errors.New("a seed takes --passphrase-file, or recipients and an identity of age; one of them")

// Seal encrypts a seed, as hex digits so that `age -d` shows it to a person.
func (l *Lock) Seal(s Seed) ([]byte, error) {
	to, err := l.recipients()
	if err != nil {
		return nil, err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to...)
	if err != nil {
		return nil, fmt.Errorf("encrypting the seed: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%x\n", s); err != nil {
		return nil, fmt.Errorf("encrypting the seed: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encrypting the seed: %w", err)
	}
	return sealed.Bytes(), nil
}

// Open decrypts a seed.
func (l *Lock) Open(sealed []byte) (s Seed, err error) {
	by, err := l.identities()
	if err != nil {
		return s, err
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), by...)
	if err != nil {
		return s, fmt.Errorf("decrypting the seed: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSeedFile))
	if err != nil {
		return s, fmt.Errorf("decrypting the seed: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != len(s) {
		return s, errors.New("the file has no seed: it wants 64 hex digits")
	}
	return Seed(b), nil
}

func (l *Lock) recipients() (list []age.Recipient, err error) {
	switch {
	case l.Passphrase != "" && len(l.Recipients) == 0:
		word, err := l.passphrase()
		if err != nil {
			return nil, err
		}
		r, err := age.NewScryptRecipient(word)
		return []age.Recipient{r}, err
	case l.Passphrase == "" && len(l.Recipients) > 0:
		if list, err = age.ParseRecipients(strings.NewReader(strings.Join(l.Recipients, "\n"))); err != nil {
			return nil, fmt.Errorf("recipients: %w", err)
		}
		return list, nil
	}
	return nil, errLock
}

func (l *Lock) identities() ([]age.Identity, error) {
	switch {
	case l.Passphrase != "" && l.Identity == "":
		word, err := l.passphrase()
		if err != nil {
			return nil, err
		}
		i, err := age.NewScryptIdentity(word)
		return []age.Identity{i}, err
	case l.Passphrase == "" && l.Identity != "":
		f, err := os.Open(l.Identity)
		if err != nil {
			return nil, err
		}
		list, err := age.ParseIdentities(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, errors.New("the file of identities has what is none of age") // its error could quote a line
		}
		return list, nil
	}
	return nil, errLock
}

// leastPassphrase is the least length of a passphrase, in bytes.
const leastPassphrase = 12

func (l *Lock) passphrase() (string, error) {
	text, err := os.ReadFile(l.Passphrase)
	if err != nil {
		return "", err
	}
	word, _, _ := strings.Cut(string(text), "\n")
	if word = strings.TrimSuffix(word, "\r"); len(word) < leastPassphrase {
		return "", fmt.Errorf("the passphrase has fewer than %d bytes", leastPassphrase)
	}
	return word, nil
}
