package coding

import "strings"

// Coding is a content coding.
type Coding uint8

// The codings. Identity leaves a body as it is.
const (
	Identity Coding = iota
	Gzip
	Zstd
	codings
)

// small is the size in bytes up to which a body is not worth a coding: it fits a packet.
const small = 1 << 10

// String returns the coding's name in headers.
func (c Coding) String() string { return [...]string{"identity", "gzip", "zstd"}[c] }

// Weights of Accept-Encoding are in thousandths.
const (
	// unnamed is the weight of a coding that the client does not name.
	unnamed = -1
	// most is the greatest weight.
	most = 1000
)

// Choose returns the coding of a body of size bytes for a client with these Accept-Encoding
// headers: the one with the greatest weight, of equal ones zstd before gzip before none. A
// small body is left as it is, unless the client refuses that. If it refuses everything,
// the body is left as it is.
func (e *Encoder) Choose(accept []string, size int) Coding {
	if e == nil || len(accept) == 0 {
		return Identity
	}

	weights := parse(accept)
	plain := weights[Identity]
	if size <= small && plain != 0 {
		return Identity
	}

	chosen, weight := Identity, max(plain, 0)
	for _, c := range [...]Coding{Gzip, Zstd} {
		if weights[c] > 0 && weights[c] >= weight {
			chosen, weight = c, weights[c]
		}
	}
	return chosen
}

// parse returns the weights of the codings. "*" stands for gzip and identity, if they are not
// named; not for zstd, because not every client that sends "*" reads it. A malformed weight
// is zero, which refuses the coding.
func parse(accept []string) (weights [codings]int) {
	weights = [codings]int{unnamed, unnamed, unnamed}
	others := unnamed
	for _, header := range accept {
		for element := range strings.SplitSeq(header, ",") {
			name, parameter, _ := strings.Cut(element, ";")
			weight := weightOf(parameter)
			switch strings.ToLower(strings.Trim(name, " \t")) {
			case "identity":
				weights[Identity] = weight
			case "gzip", "x-gzip":
				weights[Gzip] = weight
			case "zstd":
				weights[Zstd] = weight
			case "*":
				others = weight
			}
		}
	}

	for c := range weights {
		if weights[c] == unnamed && Coding(c) != Zstd {
			weights[c] = others
		}
	}
	return weights
}

// weightOf parses "q=" with a number from 0 to 1 of at most three decimals; nothing is most.
func weightOf(parameter string) int {
	parameter = strings.Trim(parameter, " \t")
	if parameter == "" {
		return most
	}

	value, isWeight := strings.CutPrefix(strings.ToLower(parameter), "q=")
	whole, decimals, _ := strings.Cut(value, ".")
	if !isWeight || whole != "0" && whole != "1" || len(decimals) > 3 {
		return 0
	}

	weight := int(whole[0]-'0') * most
	for i, step := 0, most/10; i < len(decimals); i, step = i+1, step/10 {
		if decimals[i] < '0' || decimals[i] > '9' {
			return 0
		}
		weight += int(decimals[i]-'0') * step
	}
	if weight > most {
		return 0
	}
	return weight
}
