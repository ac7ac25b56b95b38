package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// TestWorkloadsDrawOperators wants random workloads to lead acts to each of their ends, and to
// each refusal: what they do not draw, agreement does not prove.
func TestWorkloadsDrawOperators(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 40; seed++ {
		src, p := enginetest.Seed(seed), enginetest.NewPair()
		w := enginetest.NewWorkload(&src, p.Oracle)
		for range 5000 {
			cmd := w.Next()
			if err := p.Apply(&cmd); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, e := range p.Events().List {
				if e.Kind == bourse.EventAct {
					seen[p.Events().Facts[e.At].Act.Status.String()]++
				}
			}
			if cmd.Operators != nil {
				seen[p.Events().Outcome.Reason.String()]++
			}
			for _, e := range p.Events().List {
				if e.Kind == bourse.EventPersonChanged {
					seen["person"]++
				}
			}
			if cmd.Kind == bourse.CommandAct && cmd.Operators.By[0] == 0 {
				seen["of nobody"]++
			}
		}
	}
	for _, what := range []string{
		"waits", "done", "dropped", "expired", "refused", "of nobody", "UNKNOWN_OPERATOR", "OPERATOR_DISABLED",
		"ROLE_MISSING", "SAME_OPERATOR", "WRONG_DIGEST", "ACT_NOT_FOUND", "ACT_OUTDATED", "LAST_OWNER",
		"person",
	} {
		if seen[what] == 0 {
			t.Errorf("%s: never", what)
		}
	}
	t.Log(seen)
}
