package view

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// office is the view's state about operators.
type office struct {
	// operators are by id less one.
	operators []bourse.Operator
	// limits are by ascending asset.
	limits []bourse.ApprovalLimit
	// acts are the waiting ones, oldest first.
	acts []bourse.Act
}

func (o *office) fold(kind bourse.EventKind, f *bourse.Fact) {
	//nolint:exhaustive // foldEvent passes events about operators only
	switch kind {
	case bourse.EventOperator:
		if int(f.Staff.ID) > len(o.operators) {
			o.operators = append(o.operators, bourse.Operator{})
		}
		o.operators[f.Staff.ID-1] = *f.Staff
	case bourse.EventApprovalLimit:
		at, found := slices.BinarySearchFunc(o.limits, *f.Limit, func(a, b bourse.ApprovalLimit) int {
			return int(a.Asset) - int(b.Asset)
		})
		if !found {
			o.limits = slices.Insert(o.limits, at, *f.Limit)
		}
		o.limits[at] = *f.Limit
	case bourse.EventActOutdated:
		for i := range o.acts {
			if o.acts[i].ID == f.Act.ID {
				o.acts[i] = *f.Act
			}
		}
	case bourse.EventAct, bourse.EventActRestored:
		o.acts = slices.DeleteFunc(o.acts, func(a bourse.Act) bool { return a.ID == f.Act.ID })
		if f.Act.Status == bourse.ActWaits {
			o.acts = append(o.acts, *f.Act)
		}
	}
}

// Operators returns the operators by ascending id.
func (v *View) Operators() []bourse.Operator {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clone(v.office.operators)
}

// ApprovalLimits returns the limits of approvals by ascending asset.
func (v *View) ApprovalLimits() []bourse.ApprovalLimit {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clone(v.office.limits)
}

// Acts returns the waiting acts, oldest first.
func (v *View) Acts() []bourse.Act {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clone(v.office.acts)
}

// HasOwner reports whether the exchange has an enabled owner.
func (v *View) HasOwner() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.ContainsFunc(v.office.operators, func(o bourse.Operator) bool {
		return o.Enabled && o.Role == bourse.RoleOwner
	})
}
