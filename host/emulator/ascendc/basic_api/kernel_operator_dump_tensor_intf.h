// printf, dumps and assertions of kernels. Text goes to the machine, never to the C library's streams: a kernel that is
// stopped inside of them would leave their lock behind.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_DUMP_TENSOR_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_DUMP_TENSOR_INTF_H
#pragma GCC system_header

#include "kernel_tensor.h"

namespace aivops_emulator {

constexpr size_t kPrintBytes = 1024;

// What C's variable arguments take: narrow floats as float, everything else as it is.
template <typename T>
AIVOPS_EMU_INLINE auto printable(T value) {
    if constexpr (kIsAnyOf<std::remove_cv_t<T>, half, bfloat16_t, fp8_e4m3fn_t, fp8_e5m2_t, fp8_e8m0_t>)
        return static_cast<float>(value);
    else
        return value;
}

template <typename... Arguments>
AIVOPS_EMU_INLINE void print(const char* format, Arguments... arguments) {
    char text[kPrintBytes];
    const int length = __builtin_snprintf(text, sizeof(text), format, printable(arguments)...);
    if (length > 0)
        table()->print(block(), text, static_cast<size_t>(length) < sizeof(text) ? length : sizeof(text) - 1);
}

// A line of its own.
template <typename... Arguments>
AIVOPS_EMU_INLINE void log(const char* level, const char* format, Arguments... arguments) {
    print("%s: ", level);
    print(format, arguments...);
    print("\n");
}

// Of what stands behind the condition of an assertion.
constexpr bool is_text(const char* source) {
    return source[0] == '"';
}

// Numbers in the shortest common form: %g for floats, whole digits for integers.
template <typename Tensor>
AIVOPS_EMU_INLINE void dump(const Tensor& tensor, uint32_t desc, uint32_t count) {
    using T = typename Tensor::PrimType;
    print("DumpTensor: desc %u, block %u:", desc, block()->index);
    for (uint32_t i = 0; i < count; ++i) {
        if constexpr (!std::is_integral_v<T>)
            print(" %g", static_cast<double>(static_cast<float>(tensor.GetValue(i))));
        else if constexpr (T(-1) < T(0))
            print(" %lld", static_cast<long long>(tensor.GetValue(i)));
        else
            print(" %llu", static_cast<unsigned long long>(tensor.GetValue(i)));
    }
    print("\n");
}

} // namespace aivops_emulator

namespace AscendC {

template <typename... Arguments>
AIVOPS_EMU_INLINE void printf(const char* format, Arguments... arguments) {
    aivops_emulator::print(format, arguments...);
}

template <typename... Arguments>
AIVOPS_EMU_INLINE void PRINTF(const char* format, Arguments... arguments) {
    aivops_emulator::print(format, arguments...);
}

// Prints the first `dumpSize` elements on one line; `desc` tells dumps apart.
template <typename T>
AIVOPS_EMU_INLINE void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    aivops_emulator::dump(tensor, desc, dumpSize);
}

template <typename T>
AIVOPS_EMU_INLINE void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    aivops_emulator::dump(tensor, desc, dumpSize);
}

// Where a device keeps what it prints; the emulator needs no place for it.
AIVOPS_EMU_INLINE void InitDump(bool, GM_ADDR, uint64_t) {
}

AIVOPS_EMU_INLINE void Trap() {
    trap();
}

} // namespace AscendC

#define KERNEL_LOG(level, ...) ::aivops_emulator::log(#level, __VA_ARGS__)

#define AIVOPS_EMU_TEXT_OF(token) AIVOPS_EMU_TEXT_OF_VALUE(token)
#define AIVOPS_EMU_TEXT_OF_VALUE(value) #value

#define AIVOPS_EMU_HERE " at " __FILE__ ":" AIVOPS_EMU_TEXT_OF(__LINE__)

// ASCENDC_ASSERT(condition, {statements}) or ASCENDC_ASSERT(condition, "why", values...): ends the block. The report
// shows what is no statement as the source has it.
#define ASCENDC_ASSERT(condition, ...)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-value\"");                       \
            __VA_ARGS__;                                                                                               \
            _Pragma("GCC diagnostic pop");                                                                             \
            ::aivops_emulator::fault(AIVOPS_EMU_ASSERT, ::aivops_emulator::is_text(#__VA_ARGS__)                       \
                                                            ? "assertion failed: " #condition                          \
                                                              ", " #__VA_ARGS__ AIVOPS_EMU_HERE                        \
                                                            : "assertion failed: " #condition AIVOPS_EMU_HERE);        \
        }                                                                                                              \
    } while (0)

#endif
