package signer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

func TestSeedIsMadeOnce(t *testing.T) {
	d := memdisk.New(1)
	first, err := signer.Seed(d, bytes.NewReader(bytes.Repeat([]byte{5}, 32)))
	if err != nil || first != [32]byte(bytes.Repeat([]byte{5}, 32)) {
		t.Fatalf("made %x, %v", first, err)
	}
	again, err := signer.Seed(d, strings.NewReader(""))
	if err != nil || again != first {
		t.Fatalf("read %x, %v", again, err)
	}
	f, err := d.Edit("seed")
	if err == nil {
		err = f.Truncate(40)
	}
	if err != nil {
		t.Fatal(err)
	}
	if seed, err := signer.Seed(d, bytes.NewReader(make([]byte, 32))); err == nil {
		t.Errorf("half a seed is %x", seed)
	}
	if _, err := signer.Seed(memdisk.New(1), strings.NewReader("short")); err == nil {
		t.Error("a seed of too little")
	}
}
