#include "textflag.h"

// func prefetch(o *Order, l *links)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ o+0(FP), AX
	MOVQ l+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	RET

// func prefetchSlot(s *Slot)
TEXT ·prefetchSlot(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), AX
	PREFETCHT0 (AX)
	RET
