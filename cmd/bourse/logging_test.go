package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// TestLogLinesStayWhole logs what a client could send to forge a line: in both forms it
// stays one line, and in JSON it is read back as it was.
func TestLogLinesStayWhole(t *testing.T) {
	const sent = "x\" msg=serving\nlevel=ERROR msg=\"forged\"\r\n\x1b[2J\u2028{}"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		l := logging{Format: format}
		log := l.logger(&program{stderr: &out}, new(slog.LevelVar))
		log.Info(sent, slog.String("agent", sent))

		line := out.String()
		if strings.Count(line, "\n") != 1 || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\x1b\u2028") {
			t.Errorf("%s: %q", format, line)
		}
		if format != "json" {
			continue
		}
		var read struct{ Msg, Agent string }
		if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Msg != sent || read.Agent != sent {
			t.Errorf("read back as %+v: %v", read, err)
		}
	}
}
