package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApproveRefusesFlagsWithoutUse gives approve flags that it would not use: it says what is missing, and
// does nothing.
func TestApproveRefusesFlagsWithoutUse(t *testing.T) {
	id := strings.Repeat("01", 16)
	for args, want := range map[string]string{
		"payment.json":                          "--key to be signed",
		"--yes":                                 "--key to be signed",
		"payment.json --sandbox --to d":         "take --epoch",
		"payment.json --key k --exchange":       "take --epoch",
		"--epoch 2.0 --key k":                   "takes --exchange and --key",
		"--epoch 2.0 --yes --exchange":          "takes --exchange and --key",
		"p --epoch 2.0 --key k --exchange":      "reads no file and sends nothing",
		"--to d --epoch 2.0 --key k --exchange": "reads no file and sends nothing",
	} {
		list := strings.Fields("approve " + args)
		if list[len(list)-1] == "--exchange" {
			list = append(list, id)
		}
		var stdout, stderr bytes.Buffer
		p := &program{ctx: t.Context(), stdout: &stdout, stderr: &stderr, args: list}
		if code := p.run(); code != exitUsage || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %s%s", args, code, &stdout, &stderr)
		}
	}
}

// TestApproveRefusesWhatIsNoPayment signs no file that lacks a payment's fields, as all that status prints does.
func TestApproveRefusesWhatIsNoPayment(t *testing.T) {
	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "payment.json")
	approve := func(text string) (code int, stdout, stderr string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		p := &program{ctx: t.Context(), stdout: &out, stderr: &said, args: []string{"approve", file, "--key", key, "--yes"}}
		code = p.run()
		return code, out.String(), said.String()
	}
	p := &program{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard, args: []string{"approver", key}}
	if code := p.run(); code != 0 {
		t.Fatalf("approver: exit %d", code)
	}

	for _, text := range []string{
		`{}`, `{"waiting": [{"network": "BTC"}]}`, `{"network": "BTC", "coin": "BTC", "amount": "1"}`,
		`{"network": "BTC", "coin": "BTC", "address": "a"}`, `{"network": "BTC", "amount": "1", "address": "a"}`,
		`{"coin": "BTC", "amount": "1", "address": "a"}`,
	} {
		if code, stdout, stderr := approve(text); code == 0 || stdout != "" || !strings.Contains(stderr, "no payment") {
			t.Errorf("%s: exit %d, %s%s", text, code, stdout, stderr)
		}
	}
	whole := `{"network": "BTC", "coin": "BTC", "amount": "1", "address": "a"}`
	if code, stdout, stderr := approve(whole); code != 0 || !strings.Contains(stdout, `"signature"`) {
		t.Errorf("%s: exit %d, %s%s", whole, code, stdout, stderr)
	}
}
