package sqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

// paced returns things that need not be durable, in a log that is folded at a pace.
func paced(every int) sqlite.Options {
	o := things
	o.Durable, o.FoldAt, o.FoldEvery = false, 0, every
	return o
}

// foldIn makes this program one that adds a thing to a file and folds its log, for
// strace to look at.
var foldIn = flag.String("fold.in", "", "file to fold the log of, instead of running the tests")

func TestMain(m *testing.M) {
	flag.Parse()
	if *foldIn == "" {
		os.Exit(m.Run())
	}
	if err := foldAndDie(*foldIn); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func foldAndDie(path string) error {
	f, err := sqlite.Open(context.Background(), path, paced(1000))
	if err != nil {
		return err
	}
	if err := add(f, "folded"); err != nil {
		return err
	}
	if err := f.Fold(context.Background()); err != nil {
		again, closing := add(f, "too late"), f.Close()
		if again == nil || closing == nil {
			return errors.New("a log that may be all there is was written, or removed")
		}
		return err
	}
	return add(f, "after")
}

// made makes a file with its tables.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "things.db")
	f, err := sqlite.Open(t.Context(), path, things)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// traced runs foldAndDie under strace.
func traced(t *testing.T, path string, how ...string) (trace, out string, err error) {
	t.Helper()
	needs.Program(t, "strace")
	to := filepath.Join(t.TempDir(), "trace")
	command := append([]string{"-f", "-y", "-qq", "-o", to}, how...)
	said, err := exec.CommandContext(t.Context(), "strace", append(command, os.Args[0], "-fold.in", path)...).CombinedOutput()
	bytes, unread := os.ReadFile(to)
	if unread != nil {
		t.Fatal(unread, string(said))
	}
	return string(bytes), string(said), err
}

// TestWhatIsFoldedWhen looks at the order in which a fold reaches the disk: were it
// another one, a power cut could leave neither the log nor the file.
func TestWhatIsFoldedWhen(t *testing.T) {
	path := made(t)
	trace, out, err := traced(t, path, "-e", "trace=pwrite64,write,fdatasync,fsync,ftruncate")
	if err != nil {
		t.Fatal(err, out)
	}
	var order []string
	for _, c := range regexp.MustCompile(`(\w+)\(\d+<[^>]*/things\.db(-wal)?>`).FindAllStringSubmatch(trace, -1) {
		if step := strings.Replace(c[1], "fsync", "fdatasync", 1) + c[2]; len(order) == 0 || order[len(order)-1] != step {
			order = append(order, step)
		}
	}
	// The log begins anew with a header that is durable before what follows.
	want := "pwrite64-wal fdatasync-wal pwrite64 ftruncate fdatasync pwrite64-wal fdatasync-wal pwrite64-wal"
	if got := strings.Join(order, " "); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant, at the end: %s", got, want)
	}
}

// TestFoldThatFails has the file's sync fail while a log is folded into it: nothing
// may be written or removed from then on, and the next start finds everything.
func TestFoldThatFails(t *testing.T) {
	path := made(t)
	_, out, err := traced(t, path, "-P", path, "-e", "inject=fdatasync:error=EIO")
	if err == nil || !strings.Contains(out, "things.db could not be written") {
		t.Errorf("%v: %s", err, out)
	}
	f := openAs(t, path, paced(1000))
	if n, err := count(t, f), f.Check(t.Context()); n != 1 || err != nil {
		t.Errorf("%d things (%v), want 1", n, err)
	}
}

// TestFoldersAgree does the same to a file that is folded at a pace and to one that
// SQLite folds: writes of every size, some of them refused, folds, and starts. Both hold
// the same after each step, and each is read by the other kind at the end.
func TestFoldersAgree(t *testing.T) {
	dir, chance := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	plain := things
	plain.FoldAt = 64 << 10
	kinds := [...]sqlite.Options{plain, paced(7)}
	paths := [...]string{filepath.Join(dir, "plain.db"), filepath.Join(dir, "paced.db")}
	files := [...]*sqlite.File{openAs(t, paths[0], kinds[0]), openAs(t, paths[1], kinds[1])}
	next := 0

	for step := range 120 {
		var errs [2]error
		switch n := chance.IntN(20); n {
		case 0:
			for i, f := range files {
				errs[i] = f.Fold(t.Context())
			}
		case 1:
			for i, f := range files {
				errs[i] = f.Close()
				files[i] = openAs(t, paths[i], kinds[i])
			}
		default:
			var names []string
			for range 1 + chance.IntN(60) {
				names = append(names, fmt.Sprintf("%d %s", next, strings.Repeat("x", chance.IntN(400))))
				next++
			}
			if n == 2 {
				names = append(names, names[0]) // refused whole
			}
			for i, f := range files {
				errs[i] = add(f, names...)
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) {
			t.Fatalf("step %d: %v, and at a pace %v", step, errs[0], errs[1])
		}
		if plain, paced := all(t, files[0]), all(t, files[1]); plain != paced {
			t.Fatalf("step %d: %d bytes of things, and at a pace %d", step, len(plain), len(paced))
		}
	}

	want := all(t, files[0])
	for i, f := range files {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		other := openAs(t, paths[i], kinds[1-i])
		if err := other.Check(t.Context()); err != nil || all(t, other) != want {
			t.Errorf("%s is not what was written (%v)", paths[i], err)
		}
	}
}

// all returns the things of a file.
func all(t *testing.T, f *sqlite.File) (text string) {
	t.Helper()
	query := "SELECT coalesce(group_concat(name, char(10)), '') FROM (SELECT name FROM things ORDER BY rowid)"
	if err := f.Reader.QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFoldsBesideReaders folds again and again while others read.
func TestFoldsBesideReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.db")
	f := openAs(t, path, paced(10))
	ctx, end := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			for last := 0; ctx.Err() == nil; {
				n := count(t, f)
				if n < last {
					t.Errorf("%d things after %d", n, last)
				}
				last = n
			}
		})
	}
	const things = 200
	for i := range things {
		if err := add(f, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	end()
	reading.Wait()
	if n, err := count(t, f), f.Check(t.Context()); n != things || err != nil {
		t.Errorf("%d things (%v), want %d", n, err, things)
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}
