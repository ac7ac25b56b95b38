package wire_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/wire"
)

func TestWriter(t *testing.T) {
	w := wire.NewWriter(nil)
	w.Object()
	w.Bool("success", true)
	w.Text("error", "a \"quote\", a tab\t, \xff")
	w.Word("pair", "BTC/USDT")
	w.Name("list")
	w.Array()
	w.Object()
	w.Price("price", 6000010, 2)
	w.Lots("amount", 5, 6)
	w.Fixed("fixed", 6000010, 2)
	w.EndObject()
	w.Object()
	w.EndObject()
	w.String("x")
	w.String("y")
	w.EndArray()
	w.Name("empty")
	w.Object()
	w.EndObject()
	w.Amount("big", bourse.Amount{Hi: 1}, 19)
	w.Time("time", 1_500_000)
	w.Int("change", -3)
	w.Uint("obid", 1<<63)
	w.EndObject()
	const want = `{"success":true,"error":"a \"quote\", a tab\t, ` + "\ufffd" + `","pair":"BTC/USDT",` +
		`"list":[{"price":"60000.1","amount":"0.000005","fixed":"60000.10"},{},"x","y"],"empty":{},` +
		`"big":"1.8446744073709551616","time":"1.500000","change":-3,"obid":9223372036854775808}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
