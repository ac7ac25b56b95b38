package coding

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func TestChoose(t *testing.T) {
	e := NewEncoder(1)
	for accept, want := range map[string]Coding{
		"": Identity, "gzip": Gzip, "GZip": Gzip, "x-gzip": Gzip, "zstd": Zstd, "br": Identity, "deflate": Identity,
		"gzip, deflate": Gzip, "gzip, deflate, br, zstd": Zstd, "gzip,zstd;q=0.9": Gzip, "gzip;q=0.2, zstd;q=0.3": Zstd,
		"*": Gzip, "*;q=0": Identity, "*;q=0.1, zstd;q=0": Gzip, "gzip;q=0": Identity, "gzip;q=0, *": Identity,
		"identity": Identity, "identity, gzip;q=0.9": Identity, "identity;q=0.5, gzip;q=0.5": Gzip,
		"identity;q=0.5, *;q=0.4": Identity, "identity;q=0": Identity, "identity;q=0, br": Identity,
		"gzip;q=0.001": Gzip, "gzip;q=0.000": Identity, "gzip; q=1.000": Gzip, "gzip ; Q=1.": Gzip,
		"gzip;q=1.001": Identity, "gzip;q=0.0001": Identity, "gzip;q=x": Identity, "gzip;q=": Identity, "gzip;q=-1": Identity,
		"gzip;q=2": Identity, "gzip;level=9": Identity, "gzip;q=0.5;x=y": Identity, ";,;=,q=1,,": Identity, "gzipped": Identity,
		"gzip;q=0.5, zstd;q=0.5, identity;q=0.6": Identity, "\tgzip\t;\tq=0.5\t": Gzip,
	} {
		if got := e.Choose([]string{accept}, 1<<20); got != want {
			t.Errorf("%q chooses %s, want %s", accept, got, want)
		}
	}

	for _, c := range []struct {
		accept []string
		size   int
		want   Coding
	}{
		{nil, 1 << 20, Identity},
		{[]string{"br", "gzip"}, 1 << 20, Gzip},
		{[]string{"gzip"}, 1024, Identity},
		{[]string{"gzip"}, 1025, Gzip},
		{[]string{"gzip, identity;q=0"}, 10, Gzip},
		{[]string{"gzip, *;q=0"}, 10, Gzip},
		{[]string{"identity;q=0, *"}, 10, Gzip},
		{[]string{"identity;q=0"}, 10, Identity},
	} {
		if got := e.Choose(c.accept, c.size); got != c.want {
			t.Errorf("%q for %d bytes chooses %s, want %s", c.accept, c.size, got, c.want)
		}
	}
	if got := (*Encoder)(nil).Choose([]string{"gzip"}, 1<<20); got != Identity {
		t.Errorf("no encoder chooses %s", got)
	}
}

// decode decodes a body by other readers than the encoder's.
func decode(c Coding, body []byte) ([]byte, error) {
	if c == Gzip {
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(body, nil)
}

// TestBodiesComeBack encodes bodies one after the other, behind other bytes.
func TestBodiesComeBack(t *testing.T) {
	e := NewEncoder(1)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Coding{Gzip, Zstd}).Draw(t, "coding")
		part := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "part")
		body := bytes.Repeat(part, rapid.IntRange(0, 2000).Draw(t, "times"))
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")

		encoded := e.Encode(c, bytes.Clone(before), body)
		got, err := decode(c, encoded[len(before):])
		if err != nil || !bytes.Equal(got, body) || !bytes.HasPrefix(encoded, before) {
			t.Fatalf("%d bytes come back as %d (%v)", len(body), len(got), err)
		}
	})
}

// TestDocumentIsEncodedOnce checks that all readers of a document share its bytes.
func TestDocumentIsEncodedOnce(t *testing.T) {
	e := NewEncoder(2)
	d := NewDocument([]byte(strings.Repeat("a document ", 1000)))
	for _, c := range []Coding{Identity, Gzip, Zstd} {
		first := d.In(c, e)
		var readers sync.WaitGroup
		for range 8 {
			readers.Go(func() {
				if again := d.In(c, e); &again[0] != &first[0] {
					t.Errorf("%s: encoded twice", c)
				}
			})
		}
		readers.Wait()
		if c == Identity {
			continue
		}
		if got, err := decode(c, first); err != nil || !bytes.Equal(got, d.In(Identity, e)) || len(first) > len(got)/10 {
			t.Errorf("%s: %d of %d bytes (%v)", c, len(first), len(got), err)
		}
	}
}

// TestEncoderIsBounded takes all workers: another body waits for one.
func TestEncoderIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEncoder(2)
		taken := []*worker{<-e.workers, <-e.workers}
		done := false
		go func() {
			e.Encode(Gzip, nil, []byte("x"))
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("a third body is encoded beside two others")
		}
		e.workers <- taken[0]
		synctest.Wait()
		if !done || len(e.workers) != 1 {
			t.Errorf("done: %t, with %d workers free", done, len(e.workers))
		}
	})
}
