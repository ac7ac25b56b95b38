package account

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/bourse-exchange/bourse"
)

const (
	// totpPeriod is the life of an authenticator application's code.
	totpPeriod = 30 * bourse.Second
	// totpSkew is the tolerated clock error, in time steps.
	totpSkew = 1
)

// newTOTP draws a secret and returns it sealed, with the key for the application.
func (s *Service) newTOTP(row *AccountRow) ([]byte, TOTPKey, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: s.Issuer, AccountName: row.Email, Period: uint(totpPeriod / bourse.Second), Rand: s.Random,
	})
	if err != nil {
		return nil, TOTPKey{}, fmt.Errorf("drawing a secret: %w", err)
	}
	sealed, err := s.seal(factorOf(row.ID), key.Secret())
	return sealed, TOTPKey{Secret(key.URL()), Secret(key.Secret())}, err
}

// totpStep returns the time step of a code, within totpSkew of now; false if the code is
// wrong or used.
func (s *Service) totpStep(row *AccountRow, text string) (int64, bool, error) {
	secret, err := s.unseal(factorOf(row.ID), row.TOTP)
	if err != nil {
		return 0, false, err
	}
	now := int64(s.now() / totpPeriod)
	for step := now - totpSkew; step <= now+totpSkew; step++ {
		want, err := hotp.GenerateCode(secret, uint64(step))
		if err != nil {
			return 0, false, fmt.Errorf("computing a code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(text)) == 1 && step > row.TOTPStep {
			return step, true, nil
		}
	}
	return 0, false, nil
}

// factorOf returns the place that an account's TOTP secret is sealed for.
func factorOf(id bourse.AccountID) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(id)) }

// seal encrypts a secret for a place: the stored value is useless without the key, and in
// another place.
func (s *Service) seal(place []byte, secret string) ([]byte, error) {
	box, err := s.box()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(secret)+box.Overhead())
	if _, err := io.ReadFull(s.Random, nonce); err != nil {
		return nil, fmt.Errorf("drawing a nonce: %w", err)
	}
	return box.Seal(nonce, nonce, []byte(secret), place), nil
}

var errSealed = errors.New("the secret was sealed with another key, or for another place")

func (s *Service) unseal(place, sealed []byte) (string, error) {
	box, err := s.box()
	if err != nil {
		return "", err
	}
	if len(sealed) < box.NonceSize() {
		return "", errSealed
	}
	nonce, text := sealed[:box.NonceSize()], sealed[box.NonceSize():]
	secret, err := box.Open(nil, nonce, text, place)
	if err != nil {
		return "", errSealed
	}
	return string(secret), nil
}

func (s *Service) box() (cipher.AEAD, error) { return chacha20poly1305.NewX(s.Seal[:]) }
