package hostile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The words of files.txt. A file is named relative to the data directory; a
// pattern means the last one that it matches.
//
//	put FILE TEXT       the file holds this text
//	append FILE TEXT    it ends with this text as well
//	patch FILE AT TEXT  it has this text there
//	cut FILE SIZE       it has this size
//	flip FILE AT        a bit of a byte is another one; counted from the end if
//	                    it is below zero
//	zero FILE AT SIZE   bytes are zero
//	fill FILE AT SIZE   bytes are 255
//	copy FILE FROM TO SIZE
//	swap FILE A B SIZE  bytes change places
//	rename FILE NAME
//	remove FILE
//	remove-first FILE   the first that matches
//	remove-all FILE     all that match
//	mkdir FILE
//	dir FILE            a directory takes its place
//	link FILE TARGET    a symbolic link does; <<name>> is the file itself
//
//	damaged TEXT   the start ends with exit code 3 and says the text
//	refused TEXT   the start ends with another exit code and says the text
//	starts TEXT    the exchange starts, has what was traded, and says the text
//	audit TEXT     an audit fails and says the text

// shortLife are settings under which files of every kind appear soon.
var shortLife = []string{"dev", "--bots=false", "--block-time=0", "--segment-size=256KiB", "--snapshot-every=150"}

// TestFiles starts exchanges on damaged data directories.
func TestFiles(t *testing.T) {
	dir, key := tradeUntilArchived(t)
	lay(t, "files.txt", func(a *attack) { a.disturb(dir, key) })
}

// tradeUntilArchived makes a data directory with files of every kind, and returns it with
// a customer's key. The follower fills the archive in rounds with pauses, so the exchange
// stops only after a segment has been archived. The newest segment gets more frames
// afterwards, because the cases change its first ones.
func tradeUntilArchived(t *testing.T) (dir, key string) {
	t.Helper()
	x := &exchange{binary: attacked.binary, data: filepath.Join(t.TempDir(), "data"), client: newClient()}
	if err := x.start(append([]string{x.binary}, shortLife...)...); err != nil {
		t.Fatal(err)
	}
	a := x.open(t, "1000000 USDT")
	a.placeAndCancel(t, 200)
	a.must(t, "/open_orders/new", limit("BTC/USDT", "BUY", "7", "10"))

	if !eventually(patience, func() bool { return len(x.files("archive/*.zst")) > 0 }) {
		t.Fatal("no segment has been archived")
	}
	for before := x.newest("journal/*.seg"); x.newest("journal/*.seg") == before; {
		a.placeAndCancel(t, 1)
	}
	a.placeAndCancel(t, 5)

	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	return x.data, a.key
}

// placeAndCancel places and cancels an order a number of times: two frames each.
func (a *account) placeAndCancel(t *testing.T, times int) {
	t.Helper()
	for range times {
		id := a.must(t, "/open_orders/new", limit("BTC/USDT", "BUY", "1", "10")).Obid
		a.must(t, "/open_orders/cancel", fields{"obid": id})
	}
}

// files returns the files of the data directory that match a pattern, sorted by name.
func (x *exchange) files(pattern string) []string {
	list, _ := filepath.Glob(filepath.Join(x.data, pattern))
	slices.Sort(list)
	return list
}

// newest returns the last file that matches a pattern.
func (x *exchange) newest(pattern string) string {
	list := x.files(pattern)
	return list[len(list)-1]
}

// disturb carries out a case.
func (a *attack) disturb(dir, key string) {
	d := &disturbed{attack: a, key: key, x: &exchange{binary: a.binary, data: filepath.Join(a.TempDir(), "data"), client: newClient()}}
	if err := os.CopyFS(d.x.data, os.DirFS(dir)); err != nil {
		a.fail("%v", err)
	}
	for _, a.at = range a.steps {
		name, rest, _ := strings.Cut(a.at.text, " ")
		switch a.at.word {
		case "damaged", "refused", "starts", "audit":
			d.begin(a.at.word, a.at.text)
		default:
			d.do(a.at.word, name, rest)
		}
	}
}

// disturbed is a changed data directory.
type disturbed struct {
	*attack
	x   *exchange
	key string
}

// matches returns the paths of a name; a pattern must match at least one.
func (d *disturbed) matches(name string) []string {
	d.Helper()
	if !strings.Contains(name, "*") {
		return []string{filepath.Join(d.x.data, name)}
	}
	list := d.x.files(name)
	if len(list) == 0 {
		d.fail("no file matches")
	}
	return list
}

func (d *disturbed) do(word, name, rest string) {
	d.Helper()
	list := d.matches(name)
	path := list[len(list)-1]
	var err error
	switch word {
	case "put":
		err = os.WriteFile(path, []byte(d.expanded(rest)), 0o600)
	case "rename":
		err = os.Rename(path, filepath.Join(d.x.data, rest))
	case "remove":
		err = os.Remove(path)
	case "remove-first":
		err = os.Remove(list[0])
	case "remove-all":
		for _, path := range list {
			if err == nil {
				err = os.Remove(path)
			}
		}
	case "mkdir":
		err = os.Mkdir(path, 0o700)
	case "dir":
		_ = os.Remove(path) // it need not exist
		err = os.Mkdir(path, 0o700)
	case "link":
		if err = os.Remove(path); err != nil {
			break
		}
		if rest == "<<name>>" {
			rest = path
		}
		err = os.Symlink(rest, path)
	default:
		err = d.change(word, path, rest)
	}
	if err != nil {
		d.fail("%v", err)
	}
}

// change changes a file's contents.
func (d *disturbed) change(word, path, rest string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var n [3]int
	for i, word := range strings.Fields(rest) {
		if i < len(n) {
			n[i], _ = strconv.Atoi(word)
		}
	}
	switch word {
	case "append":
		b = append(b, d.expanded(rest)...)
	case "patch":
		_, text, _ := strings.Cut(rest, " ")
		copy(b[n[0]:], d.expanded(text))
	case "cut":
		b = b[:n[0]]
	case "flip":
		b[(n[0]+len(b))%len(b)] ^= 4
	case "zero":
		clear(b[n[0]:][:n[1]])
	case "fill":
		copy(b[n[0]:], bytes.Repeat([]byte{255}, n[1]))
	case "copy":
		copy(b[n[1]:][:n[2]], b[n[0]:])
	case "swap":
		first := bytes.Clone(b[n[0]:][:n[2]])
		copy(b[n[0]:][:n[2]], b[n[1]:])
		copy(b[n[1]:], first)
	default:
		d.fail("no such word")
	}
	return os.WriteFile(path, b, 0o600)
}

// exitDamaged is the exit code for damaged data.
const exitDamaged = 3

// begin starts the exchange or audits it, and checks the outcome.
func (d *disturbed) begin(word, text string) {
	d.Helper()
	if word == "audit" {
		out, err := exec.Command(d.x.binary, "admin", "--data", d.x.data, "audit").CombinedOutput()
		if err == nil || !strings.Contains(string(out), text) {
			d.fail("%v: %s", err, out)
		}
		return
	}
	err := d.x.start(append([]string{d.x.binary}, shortLife...)...)
	if err != nil {
		<-d.x.log.Ended
		_ = d.x.process.Wait()
		code := d.x.process.ProcessState.ExitCode()
		if word == "starts" || (code == exitDamaged) != (word == "damaged") || code <= 0 {
			d.fail("exit %d: %v", code, err)
		}
	} else {
		d.goesOn(word)
	}
	said := d.x.log.Text()
	if !strings.Contains(said, text) {
		d.fail("said was\n%s", said)
	}
	if err := d.x.sober(); err != nil {
		d.fail("%v", err)
	}
	if err := d.unleaked(said); err != nil || strings.Contains(said, d.key) {
		d.fail("%v", err)
	}
}

// goesOn checks an exchange that has started.
func (d *disturbed) goesOn(word string) {
	d.Helper()
	defer func() {
		_ = d.x.process.Process.Signal(os.Interrupt)
		_ = d.x.process.Wait()
		<-d.x.log.Ended
	}()
	if word != "starts" {
		d.fail("it started:\n%s", d.x.log.Text())
	}
	a := &account{x: d.x, key: d.key, client: newClient()}
	defer a.client.CloseIdleConnections()
	got, err := a.ask("/open_orders", fields{"offset": 0})
	if err != nil || len(got.Orders) != 1 {
		d.fail("open are %+v, %v", got, err)
	}
	if got, err := a.ask("/open_orders/new", limit("BTC/USDT", "BUY", "1", "10")); err != nil || !got.Success {
		d.fail("an order: %+v %v", got, err)
	}
}
