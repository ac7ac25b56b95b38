package move

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// compared is the result of comparing two rows by key.
type compared int

const (
	equal compared = iota
	different
	onlyHere
	onlyThere
)

// compare compares the source with another database, row by row.
func (m *mover) compare(ctx context.Context, there *side, doing string, found func(compared) error) error {
	if err := same(m.source, there); err != nil {
		return err
	}
	tx, err := there.look(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // read-only

	m.done = 0
	for i := range there.tables {
		t := &there.tables[i]
		err := m.compareTable(ctx, tx, t, func(what compared) error {
			if what != onlyThere {
				if m.done++; m.done%batch == 0 {
					m.report(doing, t.name, m.done, m.total)
				}
			}
			return found(what)
		})
		if err != nil {
			return fmt.Errorf("%s: table %s: %w", doing, t.name, err)
		}
	}
	return nil
}

// compareTable walks the rows of a table on both sides, in the order of the key.
func (m *mover) compareTable(ctx context.Context, tx *sql.Tx, t *table, found func(compared) error) error {
	here, err := read(ctx, m.moment, t)
	if err != nil {
		return err
	}
	defer func() { _ = here.rows.Close() }() // errors come with the rows
	there, err := read(ctx, tx, t)
	if err != nil {
		return err
	}
	defer func() { _ = there.rows.Close() }() // as above

	key := t.keyPlaces()
	if err := advance(here, there, different); err != nil {
		return err
	}
	for here.more || there.more {
		what := pair(here, there, key)
		if err := found(what); err != nil {
			return err
		}
		if err := advance(here, there, what); err != nil {
			return err
		}
	}
	return nil
}

// pair compares the current rows of both sides.
func pair(here, there *cursor, key []int) compared {
	switch {
	case !here.more:
		return onlyThere
	case !there.more:
		return onlyHere
	}
	byKey := 0
	for _, i := range key {
		byKey = cmp.Or(byKey, compareValue(here.values[i], there.values[i]))
	}
	switch {
	case byKey < 0:
		return onlyHere
	case byKey > 0:
		return onlyThere
	case slices.EqualFunc(here.values, there.values, func(a, b any) bool { return compareValue(a, b) == 0 }):
		return equal
	}
	return different
}

// advance moves on the sides whose current row was compared.
func advance(here, there *cursor, dealt compared) error {
	if dealt != onlyThere {
		if err := here.next(); err != nil {
			return err
		}
	}
	if dealt != onlyHere {
		return there.next()
	}
	return nil
}

// keyPlaces returns the indexes of the key's columns.
func (t *table) keyPlaces() []int {
	places := make([]int, len(t.key))
	for i, name := range t.key {
		places[i] = slices.Index(t.names(), name)
	}
	return places
}

// compareValue orders values as databases do. Values of different types, which no key
// has, are merely unequal.
func compareValue(a, b any) int {
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b)
		}
	case []byte:
		if b, ok := b.([]byte); ok {
			return bytes.Compare(a, b)
		}
	case nil:
		if b == nil {
			return 0
		}
	}
	return 1
}
