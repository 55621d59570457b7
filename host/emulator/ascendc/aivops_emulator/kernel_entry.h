// What ccec adds to a kernel: its argument layout as a section, and an entry that unpacks an argument block.
// Types, sizes and alignments come from the compiler's own deduction; the driver supplies names only.
#ifndef AIVOPS_EMULATOR_KERNEL_ENTRY_H
#define AIVOPS_EMULATOR_KERNEL_ENTRY_H
#pragma GCC system_header

#include "core.h"
#include "traits.h"
#include "version.h"

namespace aivops_emulator {

template <typename T>
constexpr bool kIsPointer = false;
template <typename T>
constexpr bool kIsPointer<T*> = true;

// Scalar types of the device that are classes here name their kind; every other class is a struct.
template <typename T>
constexpr auto class_kind(int) -> decltype(T::kParameterKind) {
    return T::kParameterKind;
}
template <typename T>
constexpr AivEmuParameterKind class_kind(long) {
    return AIVOPS_EMU_PARAMETER_STRUCT;
}

// What can be copied into an argument block: no references, no pointers to members.
template <typename T>
constexpr bool kIsParameter = kIsPointer<T> || __is_enum(T) || std::is_integral_v<T> || std::is_floating_point_v<T> ||
                              __is_class(T) || __is_union(T);

template <typename T>
constexpr AivEmuParameterKind parameter_kind() {
    if constexpr (kIsPointer<T>) {
        return AIVOPS_EMU_PARAMETER_POINTER;
    } else if constexpr (std::is_same_v<T, bool>) {
        return AIVOPS_EMU_PARAMETER_BOOL;
    } else if constexpr (__is_enum(T)) {
        return parameter_kind<__underlying_type(T)>();
    } else if constexpr (std::is_integral_v<T>) {
        return T(-1) < T(0) ? AIVOPS_EMU_PARAMETER_INT : AIVOPS_EMU_PARAMETER_UINT;
    } else if constexpr (std::is_floating_point_v<T>) {
        return AIVOPS_EMU_PARAMETER_FLOAT;
    } else {
        return class_kind<T>(0);
    }
}

template <unsigned Count>
struct LayoutRecord {
    AivEmuLayoutHeader header;
    AivEmuParameter parameters[Count];
};
template <>
struct LayoutRecord<0> {
    AivEmuLayoutHeader header;
};

constexpr uint32_t align_up(uint32_t offset, uint32_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
}

// Of a function that cannot be a kernel; AIVOPS_EMU_KERNEL reports it at the kernel's own line.
template <typename Function, typename = void>
struct Signature {
    static constexpr bool kIsKernel = false;
    static constexpr uint32_t args_size() { return 0; }
    template <typename... Names>
    static constexpr LayoutRecord<0> layout(Names...) {
        return {};
    }
    static void invoke(Function, const void*) {}
};

template <typename... P>
struct Signature<void (*)(P...), std::enable_if_t<(kIsParameter<std::remove_cv_t<P>> && ...)>> {
    static constexpr bool kIsKernel = true;
    static constexpr uint32_t kCount = sizeof...(P);

    static constexpr uint32_t args_size() {
        uint32_t end = 0;
        uint32_t largest = 1;
        ((end = align_up(end, alignof(P)) + sizeof(P), largest = alignof(P) > largest ? alignof(P) : largest), ...);
        return align_up(end, largest);
    }

    // `names` holds a name per parameter, in order; an empty one where the source has none.
    template <typename... Names>
    static constexpr LayoutRecord<kCount> layout(Names... names) {
        LayoutRecord<kCount> record{};
        copy_text(record.header.magic, AIVOPS_EMU_LAYOUT_MAGIC, sizeof(record.header.magic));
        record.header.layout_version = 1;
        record.header.parameter_count = kCount;
        record.header.args_size = args_size();
        if constexpr (kCount > 0) {
            const char* const given[sizeof...(Names) + 1] = {names..., nullptr};
            uint32_t index = 0;
            uint32_t end = 0;
            ((describe<std::remove_cv_t<P>>(record.parameters[index], end,
                                            index < sizeof...(Names) ? given[index] : ""),
              ++index),
             ...);
        }
        return record;
    }

    // One per signature, and not inlined: what unpacks is compiled once, and kernels are not copied into their entries.
    __attribute__((noinline)) static void invoke(void (*kernel)(P...), const void* args) {
        core_register(AIVOPS_EMU_REGISTER_PARAMETER_BASE) = reinterpret_cast<uint64_t>(args);
        Cursor cursor{static_cast<const char*>(args), 0};
        Invocation{kernel, cursor.template take<P>()...};
    }

  private:
    struct Cursor {
        const char* base;
        uint32_t end;

        template <typename T>
        const T& take() {
            const uint32_t offset = align_up(end, alignof(T));
            end = offset + sizeof(T);
            return *reinterpret_cast<const T*>(base + offset);
        }
    };

    // A braced list is the one place where C++ promises the order in which `cursor` moves on.
    struct Invocation {
        Invocation(void (*kernel)(P...), const P&... arguments) { kernel(arguments...); }
    };

    static constexpr void copy_text(char* destination, const char* source, uint32_t bytes) {
        for (uint32_t i = 0; i + 1 < bytes && source[i] != '\0'; ++i)
            destination[i] = source[i];
    }

    template <typename T>
    static constexpr void describe(AivEmuParameter& parameter, uint32_t& end, const char* name) {
        parameter.offset = align_up(end, alignof(T));
        parameter.size = sizeof(T);
        parameter.kind = parameter_kind<T>();
        copy_text(parameter.name, name, sizeof(parameter.name));
        end = parameter.offset + parameter.size;
    }
};

template <typename... P>
struct Signature<void (*)(P...) noexcept, void> : Signature<void (*)(P...)> {};

constexpr AivEmuContractRecord contract_record() {
    AivEmuContractRecord record{};
    const char magic[] = AIVOPS_EMU_CONTRACT_MAGIC;
    const char version[] = AIVOPS_EMU_TOOLKIT_VERSION;
    static_assert(sizeof(version) <= sizeof(record.toolkit_version), "the version fits the record");
    for (uint32_t i = 0; i + 1 < sizeof(magic); ++i)
        record.magic[i] = magic[i];
    for (uint32_t i = 0; i + 1 < sizeof(version); ++i)
        record.toolkit_version[i] = version[i];
    record.contract_version = AIVOPS_EMU_CONTRACT_VERSION;
    record.npu_arch = __NPU_ARCH__;
    return record;
}

} // namespace aivops_emulator

// Once per translation unit.
#define AIVOPS_EMU_CONTRACT                                                                                            \
    __attribute__((                                                                                                    \
        used, section(AIVOPS_EMU_CONTRACT_SECTION))) static constexpr AivEmuContractRecord aivops_emulator_contract =  \
        ::aivops_emulator::contract_record();

// Once per kernel: AIVOPS_EMU_KERNEL(::qualified::name, name, "parameter"...).
#define AIVOPS_EMU_KERNEL(function, kernel, ...)                                                                       \
    static_assert(::aivops_emulator::Signature<decltype(&function)>::kIsKernel,                                        \
                  "kernel " #kernel ": a kernel returns void and takes pointers, numbers and structs by value");       \
    __attribute__((                                                                                                    \
        used,                                                                                                          \
        section(AIVOPS_EMU_LAYOUT_SECTION_PREFIX #kernel))) static constexpr auto aivops_emulator_layout_##kernel =    \
        ::aivops_emulator::Signature<decltype(&function)>::layout(__VA_ARGS__);                                        \
    static void aivops_emulator_call_##kernel(const void* args) {                                                      \
        ::aivops_emulator::Signature<decltype(&function)>::invoke(&function, args);                                    \
    }                                                                                                                  \
    extern "C" {                                                                                                       \
    __attribute__((visibility("default"))) extern const AivEmuEntry __aivops_entry_##kernel;                           \
    __attribute__((used)) const AivEmuEntry __aivops_entry_##kernel = {                                                \
        AIVOPS_EMU_CONTRACT_VERSION, ::aivops_emulator::Signature<decltype(&function)>::args_size(),                   \
        &aivops_emulator_call_##kernel};                                                                               \
    }

// Once per translation unit that has [[block_local]] variables.
#define AIVOPS_EMU_BLOCK_LOCALS                                                                                        \
    extern "C" {                                                                                                       \
    __attribute__((weak, visibility("hidden"))) extern char __start_aivops_block_local[];                              \
    __attribute__((weak, visibility("hidden"))) extern char __stop_aivops_block_local[];                               \
    __attribute__((weak, visibility("default"))) extern const AivEmuBlockLocals __aivops_block_locals;                 \
    __attribute__((used))                                                                                              \
    const AivEmuBlockLocals __aivops_block_locals = {__start_aivops_block_local, __stop_aivops_block_local};           \
    }

#endif
