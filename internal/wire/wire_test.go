package wire_test

import (
	"encoding/json"
	"strings"
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
	w.Integer(1 << 63)
	w.Integer(0)
	w.EndArray()
	w.Name("empty")
	w.Object()
	w.EndObject()
	w.Amount("big", bourse.Amount{Hi: 1}, 19)
	w.Time("time", 1_500_000)
	w.Int("change", -3)
	w.Uint("obid", 1<<63)
	w.Seconds("since", 1_999_999)
	w.Seconds("until", 0)
	w.Maybe("memo", "")
	w.Maybe("name", "a\"b")
	w.EndObject()
	const want = `{"success":true,"error":"a \"quote\", a tab\t, ` + "\ufffd" + `","pair":"BTC/USDT",` +
		`"list":[{"price":"60000.1","amount":"0.000005","fixed":"60000.10"},{},"x","y",9223372036854775808,0],"empty":{},` +
		`"big":"1.8446744073709551616","time":"1.500000","change":-3,"obid":9223372036854775808,` +
		`"since":1,"until":null,"memo":null,"name":"a\"b"}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWriterBehindOtherBytes writes values one behind the other into a buffer.
func TestWriterBehindOtherBytes(t *testing.T) {
	w := wire.NewWriter([]byte("head{"))
	w.Object()
	w.Number("id", "-123456789012345678901234567890")
	w.EndObject()
	w.Reset(append(w.Bytes(), "room["...))
	w.Array()
	w.Array()
	w.EndArray()
	w.Object()
	w.Name("a")
	w.Array()
	w.String("{")
	w.String(":")
	w.EndArray()
	w.Bool("b", false)
	w.EndObject()
	w.EndArray()
	const want = `head{{"id":-123456789012345678901234567890}room[[[],{"a":["{",":"],"b":false}]`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDecimals(t *testing.T) {
	w := wire.NewWriter(nil)
	w.Object()
	w.Price("a", 0, 2)
	w.Price("b", 100, 2)
	w.Lots("c", 10, 0)
	w.Fixed("d", 0, 2)
	w.Fixed("e", 5, 0)
	w.Fixed("f", 1<<64-1, 19)
	w.Amount("g", bourse.Amount{Hi: 1<<64 - 1, Lo: 1<<64 - 1}, 0)
	w.Time("h", 0)
	w.EndObject()
	const want = `{"a":"0","b":"1","c":"10","d":"0.00","e":"5","f":"1.8446744073709551615",` +
		`"g":"340282366920938463463374607431768211455","h":"0.000000"}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzText writes any bytes as a text: what the standard library reads back is
// the text, with what is not UTF-8 replaced.
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\x1f\"\\/\u2028<>&\x7f")
	f.Add("\xff\xc0\xaf\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, text string) {
		w := wire.NewWriter(nil)
		w.Object()
		w.Text("text", text)
		w.EndObject()
		var got struct{ Text string }
		if err := json.Unmarshal(w.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", w.Bytes(), err)
		}
		want := strings.Map(func(r rune) rune { return r }, text) // replaces byte by byte, as JSON does
		if got.Text != want {
			t.Errorf("%q came back as %q", text, got.Text)
		}
	})
}
