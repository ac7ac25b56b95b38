package account_test

import (
	"testing"
	"time"
)

func TestActivityIsForgotten(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.now = r.now.Add(90 * 24 * time.Hour)
	r.session(ada)
	r.activity(who, "SIGNUP", 1)
	r.now = r.now.Add(time.Second)
	r.session(ada)
	r.activity(who, "SIGNUP", 0)
	r.activity(who, "LOGIN", 2)
}
