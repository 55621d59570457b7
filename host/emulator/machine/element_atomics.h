// Atomic updates of GM elements: those of the copy engine (one by one over a range) and those of the scalar unit.
#ifndef AIVOPS_MACHINE_ELEMENT_ATOMICS_H
#define AIVOPS_MACHINE_ELEMENT_ATOMICS_H

#include <cstdint>

namespace aivops::machine {

/// Bytes of an AivEmuType; 0 for none.
uint32_t element_bytes(uint32_t type);

/// Each element of `to` is read, changed and written indivisibly. Half and bfloat16 are computed in float and rounded
/// once; integers wrap. With `saturate` half has no infinities and no NaN: they become the largest number and 0.
void apply_atomic_elements(void* to, const uint8_t* from, uint64_t bytes, uint32_t atomic, uint32_t type,
                           bool saturate);

/// One element; `before` receives what was there. True when memory was written.
bool apply_atomic(void* at, const void* operand, const void* compare, void* before, uint32_t atomic, uint32_t type);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_ELEMENT_ATOMICS_H
