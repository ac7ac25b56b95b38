#include "textflag.h"

// func prefetch(o *Order, l *links)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVD o+0(FP), R0
	MOVD l+8(FP), R1
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	RET

// func prefetchSlot(s *Slot)
TEXT ·prefetchSlot(SB), NOSPLIT, $0-8
	MOVD s+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET
