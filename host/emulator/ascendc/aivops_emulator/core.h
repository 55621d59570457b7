// How the Ascend C headers reach the machine: the binding of this binary, its instruction table and the running block.
// Everything a kernel calls inlines down to one call into the table, whose return address tells the place in the
// kernel.
#ifndef AIVOPS_EMULATOR_CORE_H
#define AIVOPS_EMULATOR_CORE_H
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include "contract.h"

#if __cplusplus < 201703L
#error "Ascend C needs C++17: compile with -std=c++17 or newer."
#endif
#if defined(__clang__)
#if __clang_major__ < 14
#error "The emulated Ascend C needs clang++ 14 or newer."
#endif
#elif defined(__GNUC__)
#if __GNUC__ < 11
#error "The emulated Ascend C needs g++ 11 or newer."
#endif
#endif
#if !defined(__NPU_ARCH__)
#error "__NPU_ARCH__ is not defined: compile kernels with ccec --cce-aicore-arch=dav-c220-vec or dav-c310-vec."
#elif __NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3510
#error "__NPU_ARCH__ must be 2201 (dav-c220-vec) or 3510 (dav-c310-vec)."
#endif

#define AIVOPS_EMU_INLINE __attribute__((always_inline)) inline

extern "C" {
__attribute__((weak, visibility("default"))) AivEmuBinding __aivops_binding;
}

namespace aivops_emulator {

constexpr bool kIsC310 = __NPU_ARCH__ == 3510;

AIVOPS_EMU_INLINE AivEmuBlock* block() {
    return __aivops_binding.block;
}

AIVOPS_EMU_INLINE const AivEmuTable* table() {
    return __aivops_binding.table;
}

// What CTRL is after a reset: on dav-c310-vec bit 60, which leaves the narrow floats to bit 48.
constexpr uint64_t kControlReset = kIsC310 ? uint64_t(1) << 60 : 0;

AIVOPS_EMU_INLINE uint64_t& core_register(AivEmuRegister index) {
    return block()->registers[index];
}

// A message with numbers in it, as printf has them. It is there until the next one: a core says one thing at a time,
// and every device has a copy of the binary.
__attribute__((noinline, visibility("hidden"), format(printf, 1, 2))) inline const char* worded(const char* format,
                                                                                                ...) {
    static char text[256];
    __builtin_va_list numbers;
    __builtin_va_start(numbers, format);
    __builtin_vsnprintf(text, sizeof(text), format, numbers);
    __builtin_va_end(numbers);
    return text;
}

// Ends the block with a report of `category`.
AIVOPS_EMU_INLINE void fault(AivEmuCategory category, const char* message) {
    table()->fault(block(), category, message);
}

AIVOPS_EMU_INLINE void warn(AivEmuCategory category, const char* message) {
    table()->warn(block(), category, message);
}

} // namespace aivops_emulator

#endif
