package main

import (
	"bytes"
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
