package codec

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// value is one of those that have a form: how to make an empty one, how to code one,
// and which of its fields are no part of the form.
type value struct {
	name string
	make func() any
	code func(*Codec, any)
	but  []string
}

func valueOf[T any](code func(*Codec, *T), but ...string) value {
	return value{
		reflect.TypeFor[T]().String(), func() any { return new(T) },
		func(c *Codec, v any) { code(c, v.(*T)) }, but,
	}
}

// values are all values of the vocabulary that have a form.
var values = []value{
	valueOf((*Codec).Amount),
	valueOf((*Codec).Bool),
	valueOf(Uint8[bourse.Side]),
	valueOf(Uint16[bourse.AssetID]),
	valueOf(Uint32[bourse.AccountID]),
	valueOf(Uint64[bourse.Time]),
	valueOf(func(c *Codec, s *string) { Text(c, s, 64) }),
	valueOf(func(c *Codec, b *[]byte) { c.Raw(b, 64) }),
	valueOf(func(c *Codec, t *bourse.Token) { c.Fixed(t[:]) }),
	valueOf((*Codec).Genesis),
	valueOf((*Codec).Asset, "ID"),
	valueOf((*Codec).Network, "ID"),
	valueOf((*Codec).NetworkAsset),
	valueOf((*Codec).Market, "ID", "Pair", "State", "LotUnit", "TotalUnit"),
	valueOf((*Codec).FeeSchedule),
	valueOf((*Codec).Access),
	valueOf((*Codec).ClientID),
	valueOf((*Codec).NewOrder),
	valueOf((*Codec).Outcome, "Repeated"),
	valueOf((*Codec).BlockRef),
	valueOf((*Codec).BlockEffect),
	valueOf((*Codec).Outflows),
	valueOf((*Codec).Inflows),
	valueOf((*Codec).Outpoints),
	valueOf((*Codec).Unspent, "Network", "Gone"),
	valueOf((*Codec).Transfers),
	valueOf((*Codec).Holding, "Network"),
	valueOf((*Codec).Nonce, "Network"),
	valueOf((*Codec).SignedTx, "Joined", "State", "Reverted", "Block", "Time"),
	valueOf((*Codec).Shares),
	valueOf((*Codec).Withdraw),
	valueOf((*Codec).Withdrawal, "Refunded", "Deposit"),
	valueOf((*Codec).Deposit, "From", "By", "Message"),
	valueOf((*Codec).SavedAddress, "ID", "Account", "Token", "Trusts"),
	valueOf((*Codec).Trusts),
}

// fill draws a value, but for the fields that are no part of its form.
func fill(t *rapid.T, v reflect.Value, but []string) {
	if id, ok := v.Addr().Interface().(*bourse.ClientID); ok {
		if rapid.Bool().Draw(t, "named") {
			*id, _ = bourse.ParseClientID(rapid.StringMatching(`[A-Za-z0-9._:-]{1,36}`).Draw(t, "client id"))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "n") >> (64 - v.Type().Bits()))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "n"))
	case reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "text")))
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), nil)
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 3).Draw(t, "length"); n > 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(t, v.Index(i), nil)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !slices.Contains(but, v.Type().Field(i).Name) {
				fill(t, v.Field(i), nil)
			}
		}
	default:
		panic(fmt.Sprintf("%s has no form", v.Type()))
	}
}

func encode(v *value, x any) []byte {
	var c Codec
	c.Append(nil)
	v.code(&c, x)
	return c.Bytes()
}

// TestEveryFieldComesBack wants what was written to be read as it was, writing to
// change nothing, and every cut of the bytes to be refused.
func TestEveryFieldComesBack(t *testing.T) {
	for i := range values {
		v := &values[i]
		t.Run(v.name, rapid.MakeCheck(func(t *rapid.T) {
			want, got := v.make(), v.make()
			fill(t, reflect.ValueOf(want).Elem(), v.but)
			b := encode(v, want)
			if again := encode(v, want); !bytes.Equal(again, b) {
				t.Fatal("writing changed the value")
			}

			r := NewReader(b)
			v.code(r, got)
			if !r.Done() || !reflect.DeepEqual(got, want) {
				t.Fatalf("read %+v, wrote %+v", got, want)
			}
			if len(b) == 0 {
				return
			}
			r = NewReader(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])
			if v.code(r, v.make()); r.OK() || r.Done() {
				t.Fatal("a value that was cut is taken")
			}
		}))
	}
}

// TestPersons codes the access that a person may have or not.
func TestPersons(t *testing.T) {
	for _, want := range []*bourse.Access{nil, {Digest: bourse.RowDigest{1, 31: 2}}} {
		var c Codec
		c.Append(nil)
		c.Person(&want)
		var got *bourse.Access
		r := NewReader(c.Bytes())
		if r.Person(&got); !r.Done() || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, wrote %+v", got, want)
		}
	}
}

// TestSizes wants the least size of a list's entry to be that of its zero value.
func TestSizes(t *testing.T) {
	for name, c := range map[string]struct{ got, want int }{
		"transaction": {sizeOf((*Codec).BlockEffect, func(b *bourse.BlockEffect) {
			b.Txs = make([]bourse.TxEffect, 1)
		}), txSize},
		"outflow":  {entrySize((*Codec).Outflows), outflowSize},
		"inflow":   {entrySize((*Codec).Inflows), inflowSize},
		"outpoint": {entrySize((*Codec).Outpoints), outpointSize},
		"unspent":  {entrySize((*Codec).Unspents), unspentSize},
		"transfer": {entrySize((*Codec).Transfers), transferSize},
		"trust":    {entrySize((*Codec).Trusts), trustSize},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes, the bound says %d", name, c.got, c.want)
		}
	}
}

// entrySize returns how many bytes the zero value of a list's entries takes.
func entrySize[T any](code func(*Codec, *[]T)) int {
	return sizeOf(code, func(list *[]T) { *list = make([]T, 1) })
}

// sizeOf returns how many bytes an entry adds.
func sizeOf[T any](code func(*Codec, *T), lengthen func(*T)) int {
	v, x := valueOf(code), new(T)
	empty := len(encode(&v, x))
	lengthen(x)
	return len(encode(&v, x)) - empty
}

// TestLengthsAreBounded wants a length that the bytes cannot fill to be refused before
// anything is allocated for it.
func TestLengthsAreBounded(t *testing.T) {
	huge := []byte{255, 255, 255, 255, 'a', 0, 0, 0, 0}
	for name, read := range map[string]func(*Codec){
		"bool 2":          func(c *Codec) { var b bool; Uint32(c, new(uint32)); c.Bool(&b) },
		"a text":          func(c *Codec) { var s string; Text(c, &s, math.MaxInt) },
		"a text too long": func(c *Codec) { Uint8(c, new(uint8)); var s string; Text(c, &s, 1) },
		"bytes":           func(c *Codec) { var b []byte; c.Raw(&b, math.MaxInt) },
		"a count":         func(c *Codec) { c.Count(0) },
		"a list":          func(c *Codec) { var l []bourse.Outpoint; List(c, &l, outpointSize) },
		"a list of bytes": func(c *Codec) { var l []byte; List(c, &l, 1) },
	} {
		var c Codec
		allocs := testing.AllocsPerRun(1, func() {
			c.Read(huge)
			read(&c)
		})
		n := uint64(7)
		if Uint64(&c, &n); c.OK() || c.Done() || n != 0 {
			t.Errorf("%s: taken, and then %d", name, n)
		}
		if allocs > 4 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// TestLongTextsAreNotWritten stops what no reader would take.
func TestLongTextsAreNotWritten(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a text is written that is too long to be read")
		}
	}()
	s := "abc"
	Text(NewWriter(func([]byte) {}), &s, 2)
}

// TestLongState hands on what is longer than the buffer, in order.
func TestLongState(t *testing.T) {
	var data []byte
	w := NewWriter(func(b []byte) { data = append(data, b...) })
	for i := range uint64(50_000) {
		Uint64(w, &i)
	}
	long := strings.Repeat("x", 100_000)
	Text(w, &long, 100_000)
	w.Flush()

	r := NewReader(data)
	for i := range uint64(50_000) {
		var got uint64
		if Uint64(r, &got); got != i {
			t.Fatalf("%d is %d", i, got)
		}
	}
	var text string
	if Text(r, &text, 100_000); text != long || !r.Done() {
		t.Error("the text changed")
	}
}

// FuzzValues reads bytes as each value: what is read is written as the same bytes.
func FuzzValues(f *testing.F) {
	for i := range values {
		f.Add(byte(i), encode(&values[i], values[i].make()))
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		v := &values[int(which)%len(values)]
		x := v.make()
		r := NewReader(b)
		if v.code(r, x); r.Done() && !bytes.Equal(encode(v, x), b) {
			t.Fatalf("% x became % x", b, encode(v, x))
		}
	})
}
