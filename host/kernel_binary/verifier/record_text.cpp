#include "verifier/inspect.h"

#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

std::string hex_bytes(ByteView bytes) {
    constexpr std::uint64_t kShown = 32;
    std::string text;
    for (std::uint64_t i = 0; i < bytes.size() && i < kShown; ++i) {
        const auto byte = bytes.little<std::uint8_t>(i);
        text += i == 0 ? "" : " ";
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 0xf];
    }
    return bytes.size() > kShown ? text + " ..." : text;
}

std::string numbered(std::uint32_t value, std::initializer_list<const char*> names) {
    const std::string number = std::to_string(value);
    return value < names.size() ? std::string(*(names.begin() + value)) + " (" + number + ")" : number;
}

std::string dfx_text(ByteView payload) {
    constexpr std::size_t kShown = 64;
    constexpr const char* kKinds[] = {"0",      "1", "input", "output", "workspace", "log",         "context",
                                      "tiling", "8", "9",     "10",     "FFTS",      "shape tensor"};
    std::string kinds;
    std::size_t shown = 0;
    const DfxList list = walk_dfx(payload, [&](ByteView words) {
        if (++shown > kShown) {
            return;
        }
        const auto kind = static_cast<std::uint32_t>(words.big<std::uint64_t>(0) & 0xffff);
        kinds += (kinds.empty() ? "" : ", ");
        kinds += words.empty() ? "no words" : kind < std::size(kKinds) ? kKinds[kind] : std::to_string(kind).c_str();
    });
    std::string text = std::to_string(list.arguments) + (list.arguments == 1 ? " argument" : " arguments");
    if (!kinds.empty()) {
        text += ": " + kinds + (shown > kShown ? ", ..." : "");
    }
    return list.well_formed ? text : text + "; then malformed";
}

std::string parameter_text(ByteView payload) {
    const auto kind = payload.little<std::uint16_t>(18);
    return "parameter " + std::to_string(payload.little<std::uint32_t>(4)) + ": " +
           counted(payload.little<std::uint32_t>(12), "byte") + " at " +
           std::to_string(payload.little<std::uint32_t>(8)) + ", aligned to " +
           std::to_string(payload.little<std::uint16_t>(16)) + ", " +
           (kind == 1   ? "value"
            : kind == 2 ? "pointer"
                        : "kind " + std::to_string(kind));
}

} // namespace

std::string kernel_record_text(const Record& record) {
    const ByteView payload = record.payload;
    const std::uint16_t expected = kernel_record_bytes(record.type);
    if (record.type == kernel_record::kDfx) {
        return dfx_text(payload);
    }
    if (expected == 0 || record.length != expected) {
        return hex_bytes(payload);
    }
    const auto word = payload.little<std::uint32_t>(0);
    switch (record.type) {
    case kernel_record::kKernelType:
        return std::string(kernel_type_name(word)) + " (" + std::to_string(word) + ")";
    case kernel_record::kCrossCore:
        return numbered(word, {"none", "hard sync"});
    case kernel_record::kTaskRatio:
        return std::to_string(payload.little<std::uint16_t>(0)) +
               " cube : " + std::to_string(payload.little<std::uint16_t>(2)) + " vector";
    case kernel_record::kUbSize:
    case kernel_record::kStackSize:
    case kernel_record::kSimtWarpStack:
    case kernel_record::kDivergedWarpStack:
        return counted(word, "byte");
    case kernel_record::kEarlyStart:
        return numbered(word, {"off", "on"});
    case kernel_record::kVectorFlag:
        return numbered(word, {"not set", "no VF", "SIMD", "SIMT", "SIMD and SIMT"});
    case kernel_record::kFunctionEntry:
        return "entry " + std::to_string(payload.little<std::uint64_t>(4)) + ", flag " +
               hex(payload.little<std::uint8_t>(0));
    case kernel_record::kBlockCount:
        return word == 0xffffffff ? "not set" : std::to_string(word);
    case kernel_record::kParameterSummary:
        return counted(word, "parameter") + ", " + counted(payload.little<std::uint64_t>(4), "byte");
    case kernel_record::kParameter:
        return parameter_text(payload);
    case kernel_record::kScheduleMode:
        return numbered(word, {"normal", "batch"});
    default:
        return std::to_string(word);
    }
}

std::string binary_record_text(const Record& record) {
    const ByteView payload = record.payload;
    const auto word = payload.little<std::uint32_t>(0);
    switch (record.type) {
    case binary_record::kVersion:
        return record.length == 4 ? "version " + std::to_string(word) : hex_bytes(payload);
    case binary_record::kDebug:
        return record.length == 8
                   ? "buffer of " + counted(word, "byte") + ", options " + hex(payload.little<std::uint32_t>(4))
                   : hex_bytes(payload);
    case binary_record::kImplicitInfo:
        return record.length == 4
                   ? numbered(word, {"none", "SIMD print", "FFTS, hard sync", "L2 hint", "SIMT print", "assert"})
                   : hex_bytes(payload);
    default:
        return hex_bytes(payload);
    }
}

} // namespace aivops::kernel_binary
