package abuse

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// signer is a key of the kind hmac, of an exchange.
type signer struct{ exchange, key, secret string }

// newSigner makes a key that signs.
func (s *siege) newSigner(account int) signer {
	s.Helper()
	a, err := request(http.DefaultClient, http.MethodPost, "http://"+s.x.address+"/spot/config", "{}", "", nil)
	if err != nil {
		s.Fatal(err)
	}
	var made struct {
		Key    string `json:"api_key"`
		Secret string
	}
	args := fields{"account": account, "name": "signs", "scopes": "read,trade", "kind": "hmac"}
	if err := s.x.operate("key/create", args, &made); err != nil {
		s.Fatal(err)
	}
	return signer{fieldOf(a.body, "exchange_id"), made.Key, made.Secret}
}

// sign returns the headers of a signed request of now.
func (k *signer) sign(method, target, body string, window int64) [][2]string {
	path, query, _ := strings.Cut(target, "?")
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	hash := sha256.Sum256([]byte(body))
	mac := hmac.New(sha256.New, []byte(k.secret))
	for _, part := range []string{
		"bourse-req-1", k.exchange, k.key, timestamp, strconv.FormatInt(window, 10), method, path, query,
		hex.EncodeToString(hash[:]),
	} {
		_, _ = fmt.Fprintf(mac, "%d:%s,", len(part), part)
	}
	return [][2]string{
		{"Bourse-Key", k.key}, {"Bourse-Timestamp", timestamp}, {"Bourse-Window", strconv.FormatInt(window, 10)},
		{"Bourse-Signature", hex.EncodeToString(mac.Sum(nil))},
	}
}
