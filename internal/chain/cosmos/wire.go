package cosmos

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bourse-exchange/bourse"
)

var errWire = errors.New("not a message of protobuf")

// maxFields bounds the fields of a message that is read.
const maxFields = 10_000

// field is a field of a message: a number, or bytes.
type field struct {
	number int32
	typ    protowire.Type
	value  uint64
	bytes  []byte
}

// fields reads a message's fields in their order.
func fields(b []byte, each func(f field) error) error {
	for count := 0; len(b) > 0; count++ {
		tag, typ, n := protowire.ConsumeTag(b)
		if n < 0 || count == maxFields {
			return errWire
		}
		f := field{number: int32(tag), typ: typ}
		b = b[n:]
		switch f.typ {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		case protowire.Fixed32Type, protowire.Fixed64Type, protowire.StartGroupType, protowire.EndGroupType:
			n = protowire.ConsumeFieldValue(tag, typ, b)
		default:
			return errWire
		}
		if n < 0 {
			return errWire
		}
		b = b[n:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// find returns the last field of bytes with a number, as readers of protobuf take it; nil for none.
func find(b []byte, number protowire.Number) (last []byte, err error) {
	err = fields(b, func(f field) error {
		if f.number == int32(number) && f.typ == protowire.BytesType {
			last = f.bytes
		}
		return nil
	})
	return last, err
}

// findNumber returns the last number of a field; zero for none.
func findNumber(b []byte, number protowire.Number) (last uint64, err error) {
	err = fields(b, func(f field) error {
		if f.number == int32(number) && f.typ == protowire.VarintType {
			last = f.value
		}
		return nil
	})
	return last, err
}

// dig follows fields of bytes into a message.
func dig(b []byte, path ...protowire.Number) (inner []byte, err error) {
	for _, number := range path {
		if b, err = find(b, number); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendBytes appends a field of bytes, also an empty one.
func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// appendText appends a text; an empty one is left out, as signatures want it.
func appendText(b []byte, number protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// appendNumber appends a number; zero is left out, as signatures want it.
func appendNumber(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

// appendCoin appends an amount of a denomination.
func appendCoin(b []byte, number protowire.Number, denom string, amount bourse.Amount) []byte {
	return appendBytes(b, number, appendText(appendText(nil, 1, denom), 2, amount.Format(0)))
}

// anyOf returns a message with the name of its type.
func anyOf(url string, value []byte) []byte { return appendBytes(appendText(nil, 1, url), 2, value) }

// parseCoin reads an amount of a denomination.
func parseCoin(b []byte) (denom string, amount bourse.Amount, err error) {
	name, err := find(b, 1)
	if err != nil {
		return "", amount, err
	}
	digits, err := find(b, 2)
	if err != nil {
		return "", amount, err
	}
	amount, ok := parseUnits(string(digits))
	if !ok || !isDenom(string(name)) {
		return "", amount, errWire
	}
	return string(name), amount, nil
}

// maxDigits bounds an amount, which has 256 bits at most.
const maxDigits = 80

// parseUnits reads a whole number in its shortest form; false also for one above every ledger's.
func parseUnits(s string) (bourse.Amount, bool) {
	if s == "" || len(s) > maxDigits {
		return bourse.Amount{}, false
	}
	a, err := bourse.ParseAmount(s, 0)
	return a, err == nil && a.Format(0) == s
}
