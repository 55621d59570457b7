#include "verifier/image.h"

namespace aivops::kernel_binary {
namespace {

bool is_kernel(const Symbol& symbol, bool emulated) {
    const bool visible = symbol.type == elf::kFunction && symbol.binding == elf::kGlobal &&
                         symbol.visibility != elf::kHidden && !symbol.name.empty();
    // What an emulated binary imports from the host's libraries is a global function as well; on an NPU there is no
    // import.
    return visible && !(emulated && symbol.section == elf::kUndefinedSection);
}

KernelRecords read_kernel_records(ByteView section) {
    KernelRecords records;
    walk_records(section, [&](const Record& record) {
        const ByteView payload = record.payload;
        // Like the runtime, but never past the section: a short payload reads as 0.
        const auto word = payload.little<std::uint32_t>(0);
        switch (record.type) {
        case kernel_record::kKernelType:
            records.types_differ = records.types_differ || (records.type && *records.type != word);
            records.type = word;
            break;
        case kernel_record::kCrossCore:
            records.cross_core = word;
            break;
        case kernel_record::kTaskRatio:
            records.ratio = {payload.little<std::uint16_t>(0), payload.little<std::uint16_t>(2)};
            break;
        case kernel_record::kDfx:
            records.dfx = count_dfx(payload);
            break;
        case kernel_record::kUbSize:
            records.ub_size = word;
            break;
        case kernel_record::kStackSize:
            records.stack_size = word;
            break;
        case kernel_record::kVectorFlag:
            records.vector_flag = word;
            break;
        case kernel_record::kFunctionEntry:
            records.function_entry_flag = payload.little<std::uint8_t>(0);
            records.function_entry_reserved = (word >> 8) != 0;
            records.function_entry = payload.little<std::uint64_t>(4);
            break;
        case kernel_record::kParameterSummary:
            records.parameter_count = word;
            records.parameter_bytes = payload.little<std::uint64_t>(4);
            break;
        case kernel_record::kScheduleMode:
            records.schedule_mode = word;
            break;
        default:
            break;
        }
    });
    return records;
}

} // namespace

Image::Image(ByteView image_bytes) : file(image_bytes) {
    if (file.sections().empty()) {
        return;
    }
    ImageSummary summary = identify(file, contract_error);
    machine = summary.machine;
    architecture = summary.architecture;
    contract_version = summary.contract_version;
    toolkit_version = std::move(summary.toolkit_version);

    ByteBudget meta_budget(file.bytes().size());
    ByteBudget layout_budget(file.bytes().size());
    for (const Section& section : file.sections()) {
        if (section.type == elf::kSymtab && !symbols) {
            symbol_section = symbol_section == nullptr ? &section : symbol_section;
            symbols = file.symbols_of(section);
        }
        if (section.name.starts_with(kKernelMetaPrefix) && can_hold_records(section)) {
            metas[section.name.substr(kKernelMetaPrefix.size())] = {&section, {}};
            meta_overlaps = meta_overlaps || !meta_budget.spend(file.content(section).size());
        }
        if (emulated() && section.name.starts_with(kLayoutPrefix)) {
            layouts[section.name.substr(kLayoutPrefix.size())] = &section;
            layouts_overlap = layouts_overlap || !layout_budget.spend(file.content(section).size());
        }
    }
    if (!meta_overlaps) {
        for (auto& [name, meta] : metas) {
            meta.records = read_kernel_records(file.content(*meta.section));
        }
    }
    if (!symbols) {
        return;
    }
    const Section* sizes = file.find(kArgumentSizeSection);
    const auto sizes_index = static_cast<std::uint64_t>(sizes == nullptr ? -1 : sizes - file.sections().data());
    for (std::uint64_t i = 0; i < symbols->count(); ++i) {
        const Symbol symbol = symbols->at(i);
        if (is_kernel(symbol, emulated())) {
            const auto meta = metas.find(symbol.name);
            kernels.push_back({symbol.name, i, meta == metas.end() ? nullptr : &meta->second});
        } else if (symbol.type == elf::kObject && symbol.section == sizes_index && symbol.size == 4 &&
                   symbol.name.ends_with("__")) {
            argument_sizes.emplace(symbol.name.substr(0, symbol.name.size() - 2), symbol);
        }
    }
}

std::optional<std::uint64_t> Image::args_size(const Kernel& kernel) const {
    if (const auto layout = layouts.find(kernel.name); layout != layouts.end()) {
        // The field of the header alone: whether the whole layout is sound is META091's to say.
        const ByteView content = file.content(*layout->second);
        return content.size() < kLayoutHeaderBytes ? std::nullopt
                                                   : std::optional<std::uint64_t>(content.little<std::uint32_t>(16));
    }
    const auto entry = argument_sizes.find(kernel.name);
    if (entry == argument_sizes.end()) {
        return std::nullopt;
    }
    const Section& section = file.sections()[entry->second.section];
    const std::uint64_t offset = entry->second.value - section.address;
    const ByteView content = file.content(section);
    return content.contains(offset, 4) ? std::optional<std::uint64_t>(content.little<std::uint32_t>(offset))
                                       : std::nullopt;
}

bool has_mix_suffix(std::string_view kernel) {
    return kernel.find("_mix_ai") != std::string_view::npos &&
           (kernel.find("_mix_aic") != std::string_view::npos || kernel.find("_mix_aiv") != std::string_view::npos);
}

std::string registered_name(std::string_view kernel) {
    std::string name(kernel);
    std::size_t at = name.rfind("_mix_aic");
    if (at == std::string::npos) {
        at = name.rfind("_mix_aiv");
    }
    if (at != std::string::npos) {
        name.erase(at, std::string_view("_mix_aic").size());
    }
    return name;
}

std::optional<std::uint64_t> tiling_key(std::string_view registered) {
    const std::size_t line = registered.rfind('_');
    if (line == std::string_view::npos || line + 1 == registered.size()) {
        return std::nullopt;
    }
    std::uint64_t key = 0;
    for (const char digit : registered.substr(line + 1)) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        const auto next = static_cast<std::uint64_t>(digit - '0');
        if (key > (UINT64_MAX - next) / 10) {
            return std::nullopt;
        }
        key = key * 10 + next;
    }
    return key;
}

} // namespace aivops::kernel_binary
