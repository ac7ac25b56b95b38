package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"unicode/utf8"
)

// networkPSBT drafts a move from cold storage.
type networkPSBT struct {
	Network string `arg:"" help:"Network." json:"network"`
	Amount  string `arg:"" help:"Amount that arrives at the hot wallet; the cost comes on top." json:"amount"`
	Out     string `help:"Write the PSBT to a new file, in base64, in place of printing it." json:"-" placeholder:"FILE" type:"path"`
}

// Run writes the draft.
func (c *networkPSBT) Run(p *program, a *adminCmd) error {
	if c.Out == "" {
		return p.ask(a, "network/psbt", c)
	}
	answer, err := p.call(a, "network/psbt", c)
	if err != nil {
		return err
	}
	var draft struct {
		PSBT string `json:"psbt"`
	}
	if err := json.Unmarshal(answer, &draft); err != nil {
		return err
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // nothing in it is secret
	if err != nil {
		return err
	}
	_, err = f.WriteString(draft.PSBT + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}

	fields := map[string]any{}
	if err := json.Unmarshal(answer, &fields); err != nil {
		return err
	}
	fields["psbt"] = c.Out
	return p.print(fields)
}

// networkSendPSBT sends what people signed.
type networkSendPSBT struct {
	Network string   `arg:"" help:"Network."`
	Files   []string `arg:"" name:"file" help:"PSBTs, as bytes or in base64, or the final transaction in hexadecimal digits." type:"existingfile"`
}

// Run sends it.
func (c *networkSendPSBT) Run(p *program, a *adminCmd) error {
	var texts []string
	for _, name := range c.Files {
		b, err := os.ReadFile(name) //nolint:gosec // the operator names the path
		if err != nil {
			return err
		}
		text := string(b)
		if strings.HasPrefix(text, "psbt\xff") || !utf8.Valid(b) {
			text = base64.StdEncoding.EncodeToString(b)
		}
		texts = append(texts, text)
	}
	return p.ask(a, "network/send-psbt", map[string]any{"network": c.Network, "signed": strings.Join(texts, "\n")})
}

// networkEndPSBT gives a transaction up.
type networkEndPSBT struct{ onNetwork }

// Run gives it up.
func (c *networkEndPSBT) Run(p *program, a *adminCmd) error {
	return p.ask(a, "network/end-psbt", map[string]any{"network": c.Network})
}
