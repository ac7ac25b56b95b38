// Package wire writes the JSON of answers and stream messages by hand, because it is half
// the work of a hot request.
//
// It stands at the edge and knows only the vocabulary. Field names are ASCII constants
// and are not escaped; texts are.
//
// Package api reads JSON; each endpoint writes the structure of its answer.
package wire
