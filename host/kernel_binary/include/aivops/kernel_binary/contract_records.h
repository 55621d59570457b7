// Reads what an emulated binary says of itself: the contract record and the argument layout of each kernel.
// The layouts are those of host/emulator/contract/contract.h; a test holds the two together.
#ifndef AIVOPS_KERNEL_BINARY_CONTRACT_RECORDS_H
#define AIVOPS_KERNEL_BINARY_CONTRACT_RECORDS_H

#include "aivops/kernel_binary/bytes.h"
#include "aivops/kernel_binary/counted.h"

#include <optional>
#include <string>
#include <vector>

namespace aivops::kernel_binary {

inline constexpr std::string_view kContractSection = ".aivops.contract";
inline constexpr std::string_view kLayoutPrefix = ".aivops.layout.";

constexpr std::uint64_t kContractRecordBytes = 32;
constexpr std::uint32_t kContractVersion = 1;
constexpr std::uint64_t kLayoutHeaderBytes = 24;
constexpr std::uint64_t kLayoutParameterBytes = 64;
constexpr std::uint32_t kLayoutVersion = 1;

struct ContractRecord {
    std::uint32_t version = 0;
    std::uint32_t npu_arch = 0;
    std::string_view toolkit_version;
};

struct Parameter {
    std::string name; // empty when the source does not name it
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::string kind; // one of kParameterKinds
};

struct KernelLayout {
    std::uint64_t args_size = 0;
    std::vector<Parameter> parameters;
};

inline constexpr std::string_view kParameterKinds[] = {"struct", "pointer", "int",  "uint",
                                                       "float",  "bool",    "half", "bfloat16"};

inline std::string_view text_until_nul(ByteView bytes) {
    const std::string_view text = bytes.text();
    return text.substr(0, text.find('\0'));
}

// Nothing when the section is no whole number of equal records; `error` then says what is wrong with it.
inline std::optional<ContractRecord> read_contract(ByteView section, std::string& error) {
    if (section.empty() || section.size() % kContractRecordBytes != 0) {
        error = "its size is " + counted(section.size(), "byte") + ", not a multiple of " +
                std::to_string(kContractRecordBytes);
        return std::nullopt;
    }
    const ByteView first = section.slice(0, kContractRecordBytes);
    if (first.text().substr(0, 8) != std::string_view("AIVEMU\0\0", 8)) {
        error = "it does not begin with AIVEMU";
        return std::nullopt;
    }
    for (std::uint64_t offset = kContractRecordBytes; offset < section.size(); offset += kContractRecordBytes) {
        if (section.slice(offset, kContractRecordBytes).text() != first.text()) {
            error = "its sources were compiled for different contracts, architectures or by different toolkits";
            return std::nullopt;
        }
    }
    return ContractRecord{first.little<std::uint32_t>(8), first.little<std::uint32_t>(12),
                          text_until_nul(first.slice(16, 16))};
}

inline std::optional<KernelLayout> read_layout(ByteView section, std::string& error) {
    if (section.size() < kLayoutHeaderBytes || section.text().substr(0, 8) != std::string_view("AIVARGS\0", 8)) {
        error = "it does not begin with an AIVARGS header";
        return std::nullopt;
    }
    const auto version = section.little<std::uint32_t>(8);
    const auto count = section.little<std::uint32_t>(12);
    if (version != kLayoutVersion) {
        error = "its version is " + std::to_string(version) + ", not " + std::to_string(kLayoutVersion);
        return std::nullopt;
    }
    if (section.size() != kLayoutHeaderBytes + kLayoutParameterBytes * count) {
        error = "it says " + counted(count, "parameter") + ", which its " + counted(section.size(), "byte") +
                " do not match";
        return std::nullopt;
    }
    KernelLayout layout;
    layout.args_size = section.little<std::uint32_t>(16);
    std::uint64_t previous_end = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const ByteView raw = section.slice(kLayoutHeaderBytes + i * kLayoutParameterBytes, kLayoutParameterBytes);
        Parameter parameter;
        parameter.offset = raw.little<std::uint32_t>(0);
        parameter.size = raw.little<std::uint32_t>(4);
        const auto kind = raw.little<std::uint32_t>(8);
        if (kind >= std::size(kParameterKinds)) {
            error = "parameter " + std::to_string(i) + " has the unknown kind " + std::to_string(kind);
            return std::nullopt;
        }
        if (parameter.offset < previous_end || parameter.offset + parameter.size > layout.args_size) {
            error = "parameter " + std::to_string(i) + " overlaps its neighbour or leaves the argument block";
            return std::nullopt;
        }
        previous_end = parameter.offset + parameter.size;
        parameter.kind = kParameterKinds[kind];
        parameter.name = text_until_nul(raw.slice(16, 48));
        layout.parameters.push_back(std::move(parameter));
    }
    return layout;
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_CONTRACT_RECORDS_H
