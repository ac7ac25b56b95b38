package live

import (
	"fmt"
	"strings"
	"testing"
)

// TestMembersAreBounded reads ever more parameters: a connection keeps few of them, and nulls, which
// are as if they were absent, take no place.
func TestMembersAreBounded(t *testing.T) {
	var p parser
	message := func(n int, value string) []byte {
		var members strings.Builder
		for i := range n {
			fmt.Fprintf(&members, `"p%d":%s,`, i, value)
		}
		return []byte(`{"id":1,"method":"ping","params":{` + members.String() + `"last":1}}`)
	}

	for _, n := range []int{0, 1, mostMembers - 1, mostMembers, 5000} {
		if _, err := p.parse(message(n, "1")); err != nil {
			t.Fatal(err)
		}
		if want := min(n+1, mostMembers); len(p.members) != want || cap(p.members) > 2*mostMembers {
			t.Errorf("of %d members %d are kept, in a list of %d", n+1, len(p.members), cap(p.members))
		}
	}

	if _, err := p.parse(message(5000, "null")); err != nil || len(p.members) != 1 || p.members[0].name != "last" {
		t.Errorf("%+v %v", p.members, err)
	}
}
