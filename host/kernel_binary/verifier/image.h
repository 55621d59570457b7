// A kernel binary as the checks and the printer see it: the ELF, what machine it is for, its kernels as the runtime
// finds them, and the meta section that belongs to each.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_IMAGE_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_IMAGE_H

#include "aivops/kernel_binary/elf.h"
#include "aivops/kernel_binary/image_summary.h"
#include "aivops/kernel_binary/records.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace aivops::kernel_binary {

// A kernel's records after the runtime's walk: of scalar records the last one counts.
struct KernelRecords {
    std::optional<std::uint32_t> type;
    bool types_differ = false;
    std::optional<std::uint32_t> cross_core;
    std::optional<std::pair<std::uint16_t, std::uint16_t>> ratio; // cube, vector
    std::optional<DfxList> dfx;
    std::optional<std::uint32_t> ub_size;
    std::optional<std::uint32_t> stack_size;
    std::optional<std::uint32_t> vector_flag;
    std::optional<std::uint64_t> function_entry;
    std::uint8_t function_entry_flag = 0;
    bool function_entry_reserved = false; // reserved bytes are not 0
    std::optional<std::uint32_t> parameter_count;
    std::uint64_t parameter_bytes = 0;
    std::optional<std::uint32_t> schedule_mode;
};

struct KernelMeta {
    const Section* section = nullptr;
    KernelRecords records;
};

// Kept small: a hostile file may have millions.
struct Kernel {
    std::string_view name;
    std::uint64_t symbol = 0; // index in the symbol table
    const KernelMeta* meta = nullptr;
};

struct Image {
    explicit Image(ByteView bytes);

    ElfFile file;
    Machine machine = Machine::kUnknown;
    Architecture architecture;
    std::uint32_t contract_version = 0;
    std::string toolkit_version;
    std::string contract_error;

    const Section* symbol_section = nullptr;
    std::optional<SymbolTable> symbols;
    std::vector<Kernel> kernels;
    // By kernel name; of several sections for one kernel the last one counts.
    std::unordered_map<std::string_view, KernelMeta> metas;
    std::unordered_map<std::string_view, const Section*> layouts; // emulated only
    std::unordered_map<std::string_view, Symbol> argument_sizes;  // ascend only: `<kernel>__` by kernel

    ByteView bytes() const { return file.bytes(); }
    bool emulated() const { return is_emulated(machine); }

    // Bytes of arguments as the binary says them itself.
    std::optional<std::uint64_t> args_size(const Kernel& kernel) const;

    // Sections overlap, so that decoding them all would take more than linear time: none of them is decoded.
    bool meta_overlaps = false;
    bool layouts_overlap = false;
};

// The runtime looks only at sections of these types for records.
inline bool can_hold_records(const Section& section) {
    return section.type == elf::kProgbits || section.type == elf::kNote;
}

// The name that the runtime registers: without the last `_mix_aic`, else `_mix_aiv`, wherever it is.
std::string registered_name(std::string_view kernel);
bool has_mix_suffix(std::string_view kernel);
// Digits behind the last `_` of a registered name, when there are some; nothing when they overflow.
std::optional<std::uint64_t> tiling_key(std::string_view registered);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_IMAGE_H
