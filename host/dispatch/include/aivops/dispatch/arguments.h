// A kernel's parameters, and packing C++ values into the block of bytes that a launch takes. Every value is checked
// against its parameter: kind, size, range. Nothing is converted that would lose something.
#ifndef AIVOPS_DISPATCH_ARGUMENTS_H
#define AIVOPS_DISPATCH_ARGUMENTS_H

#include "aivops/dispatch/buffer.h"
#include "aivops/dispatch/narrow_float.h"
#include "aivops/error.h"
#include "aivops/kernel_binary/contract_records.h"
#include "aivops/kernel_binary/counted.h"

#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace aivops {

/// In the order of kernel_binary::kParameterKinds.
enum class ParameterKind { kStruct, kPointer, kInt, kUint, kFloat, kBool, kHalf, kBfloat16 };

inline std::string_view kind_name(ParameterKind kind) {
    return kernel_binary::kParameterKinds[static_cast<std::size_t>(kind)];
}

struct Parameter {
    std::string name; // empty when the source does not name it
    std::size_t offset = 0;
    std::size_t bytes = 0;
    ParameterKind kind = ParameterKind::kStruct;
};

struct ArgumentLayout {
    std::size_t bytes = 0; // of the whole block
    std::vector<Parameter> parameters;
};

/// The argument block of one launch, zeroed; never empty, since the runtime wants a block even for a kernel without
/// parameters.
class ArgumentBlock {
  public:
    explicit ArgumentBlock(std::size_t bytes) : bytes_(bytes == 0 ? kLeastBytes : bytes, 0) {}

    void* data() { return bytes_.data(); }
    std::size_t bytes() const { return bytes_.size(); }
    void write(std::size_t offset, const void* value, std::size_t bytes) {
        std::memcpy(bytes_.data() + offset, value, bytes);
    }
    /// The low bytes of a number: every host here is little-endian.
    void write_low_bytes(std::size_t offset, std::uint64_t value, std::size_t bytes) {
        unsigned char* to = bytes_.data() + offset;
        switch (bytes) { // a copy of known size is one instruction
        case 8:
            std::memcpy(to, &value, 8);
            return;
        case 4:
            std::memcpy(to, &value, 4);
            return;
        default:
            std::memcpy(to, &value, bytes);
        }
    }

  private:
    static constexpr std::size_t kLeastBytes = 8;
    std::vector<unsigned char> bytes_;
};

namespace detail {

/// Where a value goes, for messages: `Kernel axpy: parameter 2 "count" (int, 4 bytes)`.
struct Slot {
    const std::string& kernel;
    std::size_t index;
    const Parameter& parameter;

    std::string describe() const {
        std::string text = "Kernel " + kernel + ": parameter " + std::to_string(index);
        if (!parameter.name.empty()) {
            text += " \"" + parameter.name + "\"";
        }
        return text + " (" + std::string(kind_name(parameter.kind)) + ", " +
               kernel_binary::counted(parameter.bytes, "byte") + ")";
    }
    [[noreturn]] void refuse_kind(const std::string& found) const {
        throw InvalidTypeError(describe() + " cannot take " + found);
    }
    [[noreturn]] void refuse_value(const std::string& found) const {
        throw InvalidValueError(describe() + " cannot hold " + found);
    }
};

inline std::string number_text(double value) {
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::digits10) << value;
    return text.str();
}

inline bool is_floating(ParameterKind kind) {
    return kind == ParameterKind::kFloat || kind == ParameterKind::kHalf || kind == ParameterKind::kBfloat16;
}

inline void write_float(ArgumentBlock& block, const Slot& slot, double value) {
    const Parameter& parameter = slot.parameter;
    const auto require_finite = [&](double rounded) {
        if (std::isinf(rounded) && !std::isinf(value)) {
            slot.refuse_value(number_text(value));
        }
    };
    if (parameter.kind == ParameterKind::kHalf) {
        const std::uint16_t bits = half_bits(value);
        require_finite((bits & 0x7fff) == 0x7c00 ? std::numeric_limits<double>::infinity() : value);
        block.write(parameter.offset, &bits, sizeof bits);
    } else if (parameter.kind == ParameterKind::kBfloat16) {
        const std::uint16_t bits = bfloat16_bits(value);
        require_finite((bits & 0x7fff) == 0x7f80 ? std::numeric_limits<double>::infinity() : value);
        block.write(parameter.offset, &bits, sizeof bits);
    } else if (parameter.bytes == sizeof(float)) {
        const float narrow = static_cast<float>(value);
        require_finite(static_cast<double>(narrow));
        block.write(parameter.offset, &narrow, sizeof narrow);
    } else {
        block.write(parameter.offset, &value, sizeof value);
    }
}

/// `magnitude` is the absolute value.
inline void write_integer(ArgumentBlock& block, const Slot& slot, bool negative, std::uint64_t magnitude) {
    const Parameter& parameter = slot.parameter;
    const auto text = [&] { return (negative ? "-" : "") + std::to_string(magnitude); };
    if (is_floating(parameter.kind)) {
        const double value = static_cast<double>(magnitude);
        write_float(block, slot, negative ? -value : value);
        return;
    }
    if (parameter.kind != ParameterKind::kInt && parameter.kind != ParameterKind::kUint) {
        slot.refuse_kind("the integer " + text());
    }
    const std::size_t bits = parameter.bytes * 8;
    const bool is_signed = parameter.kind == ParameterKind::kInt;
    const std::uint64_t largest = bits >= 64 ? (is_signed ? UINT64_MAX >> 1 : UINT64_MAX)
                                             : (std::uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const std::uint64_t limit = negative ? (is_signed ? largest + 1 : 0) : largest;
    if (magnitude > limit) {
        slot.refuse_value(text());
    }
    block.write_low_bytes(parameter.offset, negative ? ~magnitude + 1 : magnitude, parameter.bytes);
}

inline void write_bool(ArgumentBlock& block, const Slot& slot, bool value) {
    if (slot.parameter.kind != ParameterKind::kBool) {
        slot.refuse_kind("a bool");
    }
    block.write_low_bytes(slot.parameter.offset, value ? 1 : 0, slot.parameter.bytes);
}

inline void write_pointer(ArgumentBlock& block, const Slot& slot, const void* pointer) {
    if (slot.parameter.kind != ParameterKind::kPointer) {
        slot.refuse_kind("an address");
    }
    block.write(slot.parameter.offset, &pointer, sizeof pointer);
}

inline void write_struct(ArgumentBlock& block, const Slot& slot, const void* data, std::size_t bytes) {
    if (slot.parameter.kind != ParameterKind::kStruct) {
        slot.refuse_kind("a struct of " + kernel_binary::counted(bytes, "byte"));
    }
    if (slot.parameter.bytes != bytes) {
        slot.refuse_value("a struct of " + kernel_binary::counted(bytes, "byte"));
    }
    block.write(slot.parameter.offset, data, bytes);
}

template <class Value>
void write_argument(ArgumentBlock& block, const Slot& slot, const Value& value) {
    if constexpr (std::is_same_v<Value, Buffer>) {
        write_pointer(block, slot, value.pointer());
    } else if constexpr (std::is_same_v<Value, std::nullptr_t>) {
        write_pointer(block, slot, nullptr);
    } else if constexpr (std::is_pointer_v<Value>) {
        write_pointer(block, slot, value);
    } else if constexpr (std::is_same_v<Value, bool>) {
        write_bool(block, slot, value);
    } else if constexpr (std::is_enum_v<Value>) {
        write_argument(block, slot, static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (std::is_integral_v<Value>) {
        const bool negative = std::is_signed_v<Value> && value < 0;
        const auto wide = static_cast<std::uint64_t>(value);
        write_integer(block, slot, negative, negative ? ~wide + 1 : wide);
    } else if constexpr (std::is_floating_point_v<Value>) {
        if (!is_floating(slot.parameter.kind)) {
            slot.refuse_kind("the floating-point number " + number_text(static_cast<double>(value)));
        }
        write_float(block, slot, static_cast<double>(value));
    } else {
        static_assert(std::is_trivially_copyable_v<Value>,
                      "a kernel argument is a Buffer, pointer, number, bool or trivially copyable struct");
        write_struct(block, slot, &value, sizeof value);
    }
}

[[noreturn]] inline void refuse_count(const std::string& kernel, std::size_t expected, std::size_t found) {
    throw InvalidTypeError("Kernel " + kernel + ": takes " + std::to_string(expected) +
                           (expected == 1 ? " argument, found " : " arguments, found ") + std::to_string(found));
}

[[noreturn]] inline void refuse_without_layout(const std::string& kernel) {
    throw InvalidTypeError("Kernel " + kernel +
                           ": its binary does not describe its parameters, so a launch takes exactly one "
                           "struct or bytes object with the whole argument block");
}

} // namespace detail

/// Throws InvalidTypeError or InvalidValueError, which name kernel and parameter.
template <class... Values>
ArgumentBlock pack_arguments(const std::string& kernel, const std::optional<ArgumentLayout>& layout,
                             const Values&... values) {
    if (!layout) {
        if constexpr (sizeof...(Values) == 1 && (std::is_class_v<Values> && ...) &&
                      (!std::is_same_v<Values, Buffer> && ...)) {
            static_assert((std::is_trivially_copyable_v<Values> && ...),
                          "an argument block is a trivially copyable struct");
            ArgumentBlock block((sizeof(Values) + ...));
            (block.write(0, &values, sizeof values), ...);
            return block;
        } else {
            detail::refuse_without_layout(kernel);
        }
    }
    if (layout->parameters.size() != sizeof...(Values)) {
        detail::refuse_count(kernel, layout->parameters.size(), sizeof...(Values));
    }
    ArgumentBlock block(layout->bytes);
    std::size_t index = 0;
    [[maybe_unused]] const auto write = [&](const auto& value) {
        detail::write_argument(block, detail::Slot{kernel, index, layout->parameters[index]}, value);
        ++index;
    };
    (write(values), ...);
    return block;
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_ARGUMENTS_H
