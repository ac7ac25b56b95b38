package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedClients generates clients from the descriptions with a common generator,
// and places an order and requests a withdrawal with them. They are generated at each
// run, so that a changed description shows.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/client")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"spot", "wallet", "wallet2", "account"} {
		generate(t, dir, name)
	}
	command(t, dir, "build", "-o", "client", ".")

	x := &exam{T: t, exchange: examined, url: examined.url, patience: patience}
	m, c := x.market(), x.chain(byOutput...)
	a := x.account("1000 "+m.quote, "1 "+c.coin)
	task, err := json.Marshal(map[string]string{
		"URL": x.url, "Key": a.key, "Pair": m.pair, "Asset": c.coin, "Network": c.network, "Address": c.outside(),
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(dir, "client"), string(task)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	order, withdrawal, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	x.same("open orders", a.open(), order)
	a.turns(withdrawal, "DONE")
	x.equal("amount", a.row("xid", withdrawal).get("amount").text, "0.25")
}

// generate generates a package from a description.
func generate(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("package: %s\ngenerate: {models: true, client: true}\noutput: %q\noutput-options: {resolve-type-name-collisions: true}\n",
		name, filepath.Join(dir, name, "client.go"))
	at := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(at, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "../../tools", "tool", "oapi-codegen", "-config", at, "../docs/api/"+name+".yaml")
}

// command runs the go command in a directory.
func command(t *testing.T, dir string, args ...string) {
	t.Helper()
	run := exec.Command("go", args...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}
