package hostile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The words of config.txt:
//
//	run WORDS       what the command line begins with; at first serve
//	flag WORD       one more word on the command line
//	yaml LINE       a line of the configuration file, which --config then names
//	file NAME TEXT  puts a file beside it
//	dir NAME        makes a directory beside it
//	env NAME=VALUE  a variable of the environment
//	says TEXT       wants the process to end with an exit code that is not zero,
//	                the text on its stderr, and no exchange founded
//
// <<dir>> is a directory of the case.

func TestConfig(t *testing.T) { lay(t, "config.txt", (*attack).config) }

// start is a command line that must fail.
type start struct {
	*attack
	dir               string
	words, flags, env []string
	yaml              strings.Builder
}

// config carries out a case.
func (a *attack) config() {
	s := &start{attack: a, dir: a.TempDir(), words: []string{"serve"}}
	for _, a.at = range a.steps {
		s.do(a.at.word, a.expanded(strings.ReplaceAll(a.at.text, "<<dir>>", s.dir)))
	}
}

func (s *start) do(word, text string) {
	s.Helper()
	first, rest, _ := strings.Cut(text, " ")
	switch word {
	case "run":
		s.words = strings.Fields(text)
	case "flag":
		s.flags = append(s.flags, text)
	case "yaml":
		s.yaml.WriteString(text + "\n")
	case "env":
		s.env = append(s.env, text)
	case "file":
		s.write(first, rest)
	case "dir":
		if err := os.Mkdir(filepath.Join(s.dir, text), 0o700); err != nil {
			s.fail("%v", err)
		}
	case "says":
		s.refused(text)
	default:
		s.fail("no such word")
	}
}

func (s *start) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.fail("%v", err)
	}
}

// refused runs the command line.
func (s *start) refused(text string) {
	s.Helper()
	words := slices.Clone(s.words)
	if s.yaml.Len() > 0 {
		s.write("bourse.yaml", s.yaml.String())
		words = append(words, "--config", filepath.Join(s.dir, "bourse.yaml"))
	}
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, append(words, s.flags...)...)
	cmd.Dir = s.dir // must stay empty too
	cmd.Env = append(os.Environ(), s.env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() <= 0 {
		s.fail("%v\n%s", err, said.Bytes())
	}
	if !strings.Contains(said.String(), text) {
		s.fail("said was\n%s", said.Bytes())
	}
	for _, bad := range []string{"panic", "goroutine ", "BUG", "runtime error"} {
		if strings.Contains(said.String(), bad) {
			s.fail("%s", said.Bytes())
		}
	}
	if err := s.unleaked(said.String()); err != nil {
		s.fail("%v", err)
	}
	made, _ := filepath.Glob(filepath.Join(s.dir, "*", "journal", "*"))
	here, _ := filepath.Glob(filepath.Join(s.dir, "journal", "*"))
	if made = append(made, here...); len(made) > 0 {
		s.fail("refused, but founded was %v", made)
	}
}
