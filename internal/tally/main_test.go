package main

import (
	"bytes"
	"strings"
	"testing"
)

const (
	passed  = `{"Action":"output","Package":"p","Test":"TestA","Output":"a secret of a test that passed\n"}{"Action":"pass","Package":"p","Test":"TestA"}{"Action":"output","Package":"p","Output":"PASS\n"}{"Action":"output","Package":"p","Output":"ok  \tp\t1s\n"}{"Action":"pass","Package":"p"}`
	skipped = `{"Action":"output","Package":"q","Test":"TestB","Output":"    b_test.go:3: needs strace\n"}{"Action":"skip","Package":"q","Test":"TestB"}{"Action":"output","Package":"q","Test":"TestC","Output":"    b_test.go:9: needs root\n"}{"Action":"skip","Package":"q","Test":"TestC"}{"Action":"pass","Package":"q"}`
	silent  = `{"Action":"output","Package":"q","Test":"TestB","Output":"    b_test.go:3: for a reason\n"}{"Action":"skip","Package":"q","Test":"TestB"}{"Action":"pass","Package":"q"}`
	failed  = `{"Action":"output","Package":"r","Test":"TestD","Output":"    d_test.go:3: wrong\n"}{"Action":"fail","Package":"r","Test":"TestD"}{"Action":"fail","Package":"r"}`
	broken  = `{"ImportPath":"s","Action":"build-output","Output":"s.go:1: syntax error\n"}{"Action":"output","Package":"s","Output":"FAIL\ts [build failed]\n"}{"Action":"fail","Package":"s"}`
	hanging = `{"Action":"output","Package":"u","Test":"TestE","Output":"panic: test timed out\n"}{"Action":"fail","Package":"u"}`
	closing = "\n2 tests were skipped; they need root (1), strace (1). "
)

func TestTally(t *testing.T) {
	for _, c := range []struct {
		in     string
		strict bool
		allow  string
		err    string
		prints []string
	}{
		{in: passed, prints: []string{"ok  \tp\t1s\n"}},
		{in: passed + skipped, prints: []string{closing}},
		{in: skipped, strict: true, err: "tests failed", prints: []string{closing}},
		{in: skipped, strict: true, allow: "root", err: "tests failed"},
		{in: skipped, strict: true, allow: "root,strace"},
		{in: silent, strict: true, allow: "root,strace", err: "tests failed", prints: []string{"nothing that it names (1)"}},
		{in: passed + failed, err: "tests failed", prints: []string{"d_test.go:3: wrong"}},
		{in: broken, err: "tests failed", prints: []string{"syntax error", "build failed"}},
		{in: hanging, err: "tests failed", prints: []string{"timed out"}},
		{in: "", err: "nothing was tested"},
		{in: passed + "nonsense", err: "reading go test -json"},
	} {
		var out bytes.Buffer
		err := newTally(&out, c.strict, strings.Split(c.allow, ",")).read(strings.NewReader(c.in))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.in, err, c.err)
		}
		for _, text := range c.prints {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s prints\n%s\nwithout %q", c.in, &out, text)
			}
		}
		if strings.Contains(out.String(), "secret") {
			t.Errorf("the output of a test that passed: %s", &out)
		}
	}
}
