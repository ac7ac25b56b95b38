package hostile

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"
)

// TestMoreConnectionsThanFiles opens more idle connections than the exchange has file
// descriptors. Earlier connections keep trading while the journal rotates its files;
// after the idle ones close, new ones are accepted.
func TestMoreConnectionsThanFiles(t *testing.T) {
	const files, pair = 160, "BTC/USDT"
	limited := "ulimit -n " + strconv.Itoa(files) + ` && exec "$0" "$@"`
	x := another(t, "sh", "-c", limited, attacked.binary, "dev", "--bots=false", "--segment-size=1MiB", "--snapshot-every=500")
	a := x.open(t, "1000 USDT")
	a.must(t, "/time", nil)
	crowd := make([]net.Conn, 0, 2*files)
	for range cap(crowd) {
		conn, err := net.DialTimeout("tcp", x.address, patience)
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, conn)
	}
	for range 1000 {
		id := a.must(t, "/open_orders/new", limit(pair, "BUY", "1", "10")).Obid
		a.must(t, "/open_orders/cancel", fields{"obid": id})
	}
	a.must(t, "/orders_history", fields{"offset": 900})
	if written, _ := filepath.Glob(filepath.Join(x.data, "journal", "*.seg")); len(written) < 2 {
		t.Errorf("the journal has not gone on to another file: %v", written)
	}
	for _, conn := range crowd {
		_ = conn.Close()
	}
	late := account{x: x, key: a.key, client: newClient()}
	defer late.client.CloseIdleConnections()
	if !eventually(patience, func() bool {
		_, err := late.ask("/time", nil)
		return err == nil
	}) {
		t.Error("there is no room when the others have gone")
	}
}
