// The qualifiers of Ascend C, empty on a CPU. ccec predefines them; an editor's compiler takes them from here.
#ifndef AIVOPS_EMULATOR_QUALIFIERS_H
#define AIVOPS_EMULATOR_QUALIFIERS_H
#pragma GCC system_header

#ifndef __global__
#define __global__ __attribute__((visibility("default")))
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __vector__
#define __vector__
#endif
// Cores of each kind for a block of a kernel; a vector core alone is what there is.
#ifndef __mix__
#define __mix__(cubes, vectors) AIVOPS_EMU_MIX_OF_CUBES_##cubes##_AND_VECTORS_##vectors
#define AIVOPS_EMU_MIX_OF_CUBES_0_AND_VECTORS_1
#endif
#ifndef __inout_pipe__
#define __inout_pipe__(pipe)
#endif

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif

// Both are compile-time truths on a vector-only toolkit; used as `if ASCEND_IS_AIV { ... }`.
#define ASCEND_IS_AIV (true)
#define ASCEND_IS_AIC (false)

#endif
