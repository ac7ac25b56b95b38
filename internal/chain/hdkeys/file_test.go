package hdkeys

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

const name = "BTC"

// exchange derives addresses, and counts how often.
type exchange struct {
	t       *testing.T
	d       *memdisk.Disk
	chain   string
	keys    string
	derived int
}

func newExchange(t *testing.T) *exchange {
	return &exchange{t: t, d: memdisk.New(1), chain: "a chain", keys: "public keys"}
}

// program is the program of an account, of these keys.
func (e *exchange) program(index uint32) [20]byte {
	h := sha256.Sum256(binary.LittleEndian.AppendUint32([]byte(e.keys), index))
	return [20]byte(h[:])
}

// start starts an exchange with so many accounts and ends it again.
func (e *exchange) start(accounts uint32) *Owners {
	e.t.Helper()
	o := e.open()
	o.Watch(accounts)
	if err := o.Close(); err != nil {
		e.t.Error(err)
	}
	return o
}

func (e *exchange) open() *Owners {
	log := slog.New(slog.DiscardHandler)
	e.derived = 0
	o := NewOwners(func(index uint32) [20]byte {
		e.derived++
		return e.program(index)
	})
	o.Keep(OpenFile(e.d, name, e.chain, e.keys, log), log)
	return o
}

// right checks that an exchange knows the addresses of so many accounts and no other, and that its file has them.
func (e *exchange) right(o *Owners, accounts uint32, about string) {
	e.t.Helper()
	for account := uint32(1); account <= accounts+1; account++ {
		p := e.program(account)
		want := chain.Owner{Kind: chain.OwnerCustomer, Index: account, At: account}
		owner, ours := o.Of(&p)
		if ours != (account <= accounts) || ours && owner != want {
			e.t.Fatalf("%s: account %d of %d is %v, %t", about, account, accounts, owner, ours)
		}
	}
	for o, account := e.open(), uint32(1); account <= accounts; account++ {
		var got [1][20]byte
		if o.file.read(account, got[:]) != 1 || got[0] != e.program(account) {
			e.t.Fatalf("%s: the file does not have account %d", about, account)
		}
	}
}

func (e *exchange) content() []byte {
	e.t.Helper()
	b, err := disk.ReadFile(e.d, name)
	if err != nil {
		e.t.Fatal(err)
	}
	return b
}

// put makes the file's content another one.
func (e *exchange) put(content []byte) {
	e.t.Helper()
	f, err := e.d.Edit(name)
	if err != nil {
		e.t.Fatal(err)
	}
	_, err = f.WriteAt(content, 0)
	if err := errors.Join(err, f.Truncate(int64(len(content))), f.Close()); err != nil {
		e.t.Fatal(err)
	}
}

// TestStart starts an exchange of 100,000 accounts twice. The second start derives a sample alone, and the accounts
// that are new.
func TestStart(t *testing.T) {
	const accounts, more = 100_000, 10
	e := newExchange(t)
	e.start(accounts)
	if e.derived != accounts+2 { // hot and change
		t.Errorf("the first start derived %d addresses", e.derived)
	}
	o := e.start(accounts + more)
	// The sample has 100 addresses, and more than 200 once in 10^17 starts.
	if least := more + 2; e.derived <= least || e.derived > least+2*accounts/sampled {
		t.Errorf("the second start derived %d addresses", e.derived)
	}
	e.right(o, accounts+more, "after a start")
}

// TestFileIsDamaged cuts the file at each byte, changes each byte, and leaves it in the state of other keys, of another
// chain, and of other accounts. Each start knows all addresses and makes the file good.
func TestFileIsDamaged(t *testing.T) {
	const accounts = 7
	e := newExchange(t)
	e.start(accounts)
	good := e.content()
	if len(good) != accounts*recordSize {
		t.Fatalf("the file has %d bytes", len(good))
	}
	check := func(content []byte, about string, trusted int) {
		t.Helper()
		e.put(content)
		o := e.start(accounts)
		if trusted < accounts && e.derived < 2+accounts-trusted {
			t.Errorf("%s: %d addresses are derived", about, e.derived)
		}
		e.right(o, accounts, about)
		if !slices.Equal(e.content(), good) {
			t.Errorf("%s: the file is not mended", about)
		}
	}
	for at := range good {
		check(good[:at], fmt.Sprintf("cut at %d", at), at/recordSize)
		damaged := slices.Clone(good)
		damaged[at] ^= 0x10
		check(damaged, fmt.Sprintf("byte %d", at), at/recordSize)
	}
	check(make([]byte, len(good)), "zeros", 0)
	check(slices.Concat(good[recordSize:2*recordSize], good[:recordSize], good[2*recordSize:]), "swapped", 0)

	for _, other := range []exchange{{chain: e.chain, keys: "other keys"}, {chain: "another", keys: e.keys}} {
		other.t, other.d = t, memdisk.New(1)
		other.start(accounts)
		check(other.content(), other.chain+" and "+other.keys, 0)
	}
}

// TestFileOfMore starts an exchange whose file has more accounts than it, as after a restored backup.
func TestFileOfMore(t *testing.T) {
	e := newExchange(t)
	e.start(2 * batch)
	o := e.open()
	o.Watch(3)
	e.right(o, 3, "fewer accounts")
	o.Watch(batch + 1)
	e.right(o, batch+1, "more accounts")
}

// TestFileIsForged gives an exchange a file whose tags are right and whose programs are not, as one writes it who has
// the public keys. Nobody gets what is paid to a forged address, and the rightful owner is known again once the forgery
// shows: by what is paid to it, by an address that is shown, or by the sample.
func TestFileIsForged(t *testing.T) {
	const accounts, victim, thief = 20, 5, 9
	e := newExchange(t)
	forge := func(o *Owners, account uint32, program [20]byte) {
		o.file.count = account - 1
		o.file.write(account, [][20]byte{program})
		o.file.count = accounts
	}
	start := func() *Owners {
		e.start(accounts)
		o := e.open()
		forge(o, victim, [20]byte{1})
		forge(o, thief, e.program(victim))
		o.Watch(accounts)
		return o
	}
	// The sample of a start may hit a forged record, and then the forgery is over before it shows.
	hidden := func() *Owners {
		p := e.program(victim)
		for {
			o := start()
			if account, _, _ := o.watched.Load().Find(&p); account == thief {
				return o
			}
		}
	}

	o := hidden()
	p := e.program(victim)
	if owner, ours := o.Of(&p); ours {
		t.Errorf("the victim's address belongs to %v", owner)
	}
	o.Watch(accounts)
	e.right(o, accounts, "after a payment")

	o = hidden()
	o.Show(victim, &p)
	o.Watch(accounts)
	e.right(o, accounts, "after an address was shown")

	e.start(40 * sampled)
	o = e.open()
	for account := range uint32(40 * sampled) {
		forge(o, account+1, [20]byte{byte(account), byte(account >> 8), 2})
	}
	o.file.count = 40 * sampled
	o.Watch(40 * sampled)
	e.right(o, 40*sampled, "after a sample")
}

// TestFileFails has each operation of the disk fail, some writes after some bytes, and the disk crash then. The
// exchange knows all addresses, and so does the start after the crash.
func TestFileFails(t *testing.T) {
	const accounts = 3
	failed := true
	for n := 1; failed; n++ {
		for written := range recordSize + 1 {
			e := newExchange(t)
			e.d = memdisk.New(uint64(n))
			e.start(1)

			var done int
			failed = false
			e.d.Inject(func(op memdisk.Op) error {
				if done++; done < n || failed {
					return nil
				}
				failed = true
				if op.Kind == memdisk.OpWrite {
					return &memdisk.ShortWriteError{Written: written, Cause: errors.New("no disk")}
				}
				return errors.New("no disk")
			})
			o := e.open()
			o.Watch(accounts)
			for account := uint32(1); account <= accounts; account++ {
				if p := e.program(account); !o.Has(&p) {
					t.Errorf("operation %d: account %d is unknown", n, account)
				}
			}
			e.d = e.d.Crash()
			e.right(e.start(accounts), accounts, fmt.Sprintf("a crash after operation %d failed", n))
		}
		if !failed && n < 4 {
			t.Errorf("a start has %d operations", n)
		}
	}
}

// TestWatchTogether has many watch at the same time: each address is derived once.
func TestWatchTogether(t *testing.T) {
	const accounts = 2*batch + 1
	e := newExchange(t)
	o := e.open()
	var all sync.WaitGroup
	for n := range uint32(8) {
		all.Go(func() {
			o.Watch(accounts - n)
			p := e.program(accounts - n)
			if !o.Has(&p) {
				t.Errorf("account %d is unknown", accounts-n)
			}
		})
	}
	all.Wait()
	if e.derived != accounts+2 {
		t.Errorf("%d addresses are derived for %d accounts", e.derived, accounts)
	}
	e.right(o, accounts, "together")
}
