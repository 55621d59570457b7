// The records of each kernel's meta section: first their form, then what they say.
#include "verifier/checks.h"

#include <algorithm>
#include <unordered_set>

namespace aivops::kernel_binary {
namespace {

// One kernel with its section, and how findings about it are made.
struct KernelCheck {
    const Checking& checking;
    const Kernel& kernel;
    const Section& section;
    const KernelRecords& records;
    ByteView content;

    bool vector_only() const { return records.type == kernel_type::kVector; }

    Detail detail(const std::string& what, std::string expected, std::string found,
                  std::optional<std::uint64_t> record = std::nullopt) const {
        return {.kernel = kernel.name,
                .section = section.name,
                .offset = section.offset + record.value_or(0),
                .message = kernel_entity(kernel.name) + " " + what,
                .expected = std::move(expected),
                .found = std::move(found)};
    }
};

std::string record_title(std::uint16_t type) {
    return "record " + std::to_string(type) + " (" + kernel_record_name(type) + ")";
}

void check_form(const KernelCheck& check) {
    std::optional<std::uint64_t> padding;
    const WalkEnd end = walk_records(check.content, [&](const Record& record) {
        const std::uint16_t expected = kernel_record_bytes(record.type);
        const std::string length = counted(record.length, "byte");
        if (expected != 0 && record.length != expected) {
            check.checking.add(RuleId::META058,
                               check.detail("has a " + record_title(record.type) + " of a wrong length",
                                            counted(expected, "byte"), length, record.offset));
        } else if (record.type == kernel_record::kDfx && !count_dfx(record.payload).well_formed) {
            check.checking.add(RuleId::META066,
                               check.detail("has a DFX list that is malformed",
                                            "argument records {5, words} in big-endian, filling the payload", length,
                                            record.offset));
        } else if (record.type > kernel_record::kLastKnown || record.type == kernel_record::kDfxArgument ||
                   record.type == kernel_record::kDfxIsTik) {
            check.checking.add(RuleId::META074, Severity::kWarning,
                               check.detail("has a record that the runtime ignores", "types 1 to 4 and 7 to 18",
                                            record_title(record.type), record.offset));
        } else if (record.type == kernel_record::kPadding && !padding) {
            padding = record.offset;
        }
    });
    if (padding) {
        check.checking.add(RuleId::META074, Severity::kInfo,
                           check.detail("has padding between its records", "none", "records of type 0", padding));
    }
    if (end.overrun) {
        check.checking.add(
            RuleId::META057, Severity::kError,
            check.detail("has a record that is longer than its section", "at most " + counted(end.left - 4, "byte"),
                         record_title(end.overrun_type) + " of " + counted(end.overrun_length, "byte"), end.offset));
    } else if (end.left != 0) {
        const std::string_view tail = check.content.slice(end.offset, end.left).text();
        const bool zero = tail.find_first_not_of('\0') == std::string_view::npos;
        check.checking.add(
            RuleId::META057, zero ? Severity::kInfo : Severity::kWarning,
            check.detail(zero ? "has zero bytes behind its last record" : "has bytes behind its last record", "none",
                         counted(end.left, "byte"), end.offset));
    }
}

std::string type_text(std::uint32_t type) {
    return std::string(kernel_type_name(type)) + " (" + std::to_string(type) + ")";
}

bool is_hard_sync(const KernelCheck& check) {
    return check.records.type == kernel_type::kMixVectorMain &&
           check.records.ratio == std::pair<std::uint16_t, std::uint16_t>(0, 1) &&
           check.kernel.name.find("_mix_aiv") != std::string_view::npos;
}

void check_type(const KernelCheck& check) {
    const Checking& checking = check.checking;
    if (!check.records.type) {
        checking.add(RuleId::META059,
                     check.detail("has no KERNEL_TYPE record", "K_TYPE_AIV (3)", "no record of type 1"));
        return;
    }
    const std::uint32_t type = *check.records.type;
    if (check.records.types_differ) {
        checking.add(RuleId::META062,
                     check.detail("has KERNEL_TYPE records that differ", "one", "the last one is " + type_text(type)));
    }
    if (type == kernel_type::kInvalid || type > kernel_type::kVectorRollback) {
        checking.add(RuleId::META060, check.detail("has a type that does not exist", "1 to 7", type_text(type)));
        return;
    }
    if (type != kernel_type::kVector && !(checking.options.allow_hard_sync && is_hard_sync(check))) {
        checking.add(RuleId::META061,
                     check.detail("is not of the type for vector cores", "K_TYPE_AIV (3)", type_text(type)));
    }
    const bool mixed = type == kernel_type::kMixCubeMain || type == kernel_type::kMixVectorMain;
    if (mixed && !has_mix_suffix(check.kernel.name)) {
        checking.add(RuleId::META065, check.detail("is of a mixed type without the suffix of one",
                                                   "_mix_aic or _mix_aiv in the name", type_text(type)));
    }
}

void check_synchronisation(const KernelCheck& check) {
    const KernelRecords& records = check.records;
    if (records.cross_core && (*records.cross_core > 1 || (*records.cross_core == 1 && check.vector_only()))) {
        check.checking.add(RuleId::META063,
                           check.detail("has a CROSS_CORE record that does not fit",
                                        check.vector_only() ? "none" : "0 or 1", std::to_string(*records.cross_core)));
    }
    if (records.ratio && *records.ratio != std::pair<std::uint16_t, std::uint16_t>(0, 0)) {
        const auto [cube, vector] = *records.ratio;
        const bool known = (cube == 1 && vector <= 2) || (cube == 2 && vector == 1) || (cube == 0 && vector == 1);
        if (!known || (check.vector_only() && cube != 0)) {
            check.checking.add(RuleId::META064,
                               check.detail("has a task ratio that does not fit",
                                            check.vector_only() ? "0:1, or none" : "1:2, 2:1, 1:1, 1:0 or 0:1",
                                            std::to_string(cube) + ":" + std::to_string(vector)));
        }
    }
    if (records.schedule_mode && *records.schedule_mode >= 2) {
        check.checking.add(RuleId::META069, check.detail("has a schedule mode that does not exist", "0 or 1",
                                                         std::to_string(*records.schedule_mode)));
    }
}

void check_entry(const KernelCheck& check) {
    const KernelRecords& records = check.records;
    if (!records.function_entry) {
        return;
    }
    constexpr std::uint8_t kNoEntry = 0x80;
    if (records.function_entry_flag != 0 && records.function_entry_flag != kNoEntry) {
        check.checking.add(RuleId::META068, Severity::kError,
                           check.detail("has a function entry of an unknown kind", "flag 0 or 0x80",
                                        hex(records.function_entry_flag)));
        return;
    }
    if (records.function_entry_reserved) {
        check.checking.add(
            RuleId::META068, Severity::kWarning,
            check.detail("has reserved bytes in its function entry that are not 0", "0", "other values"));
    }
    const auto key = tiling_key(registered_name(check.kernel.name));
    if (records.function_entry_flag == 0 && key && *key != *records.function_entry) {
        check.checking.add(RuleId::META068, Severity::kWarning,
                           check.detail("has another function entry than its name says", std::to_string(*key),
                                        std::to_string(*records.function_entry)));
    }
}

void check_stack_and_ub(const KernelCheck& check) {
    const KernelRecords& records = check.records;
    const Generation generation = check.checking.image.architecture.generation;
    constexpr std::uint32_t kDefaultStack = 32768;
    const std::uint32_t most_stack = generation == Generation::kC310 ? 131072 : 196608;
    if (records.stack_size && *records.stack_size > kDefaultStack) {
        const bool never = *records.stack_size > most_stack;
        check.checking.add(RuleId::META070, never ? Severity::kError : Severity::kWarning,
                           check.detail("needs more stack than " + std::string(never ? "there can be" : "the default"),
                                        "at most " + counted(never ? most_stack : kDefaultStack, "byte"),
                                        counted(*records.stack_size, "byte")));
    }
    const std::uint32_t flag = records.vector_flag.value_or(0);
    if (records.vector_flag && (flag < 1 || flag > 4)) {
        check.checking.add(RuleId::META072, Severity::kError,
                           check.detail("has a vector flag that does not exist", "1 to 4", std::to_string(flag)));
    } else if (const std::uint64_t ub = records.ub_size.value_or(0); ub != 0 && flag == 0) {
        check.checking.add(
            RuleId::META072, Severity::kWarning,
            check.detail("has a UB size that is ignored", "an AIV_TYPE_FLAG record beside it", counted(ub, "byte")));
    } else if (const bool simt = flag >= 3; ub != 0) {
        const std::uint64_t limit = simt ? 229376 : 262144;
        const std::uint64_t rounded = simt ? (ub + 127) / 128 * 128 : ub;
        if (rounded > limit) {
            check.checking.add(
                RuleId::META072, Severity::kError,
                check.detail("needs more UB than there is", "at most " + counted(limit, "byte"), counted(ub, "byte")));
        }
    }
    const bool runs_vector = records.type == kernel_type::kVector || records.type == kernel_type::kVectorRollback ||
                             check.kernel.name.find("_mix_aiv") != std::string_view::npos;
    if (generation == Generation::kC310 && records.type && runs_vector && !records.vector_flag) {
        check.checking.add(RuleId::META073, check.detail("does not say which vector instructions it uses",
                                                         "an AIV_TYPE_FLAG record", "none"));
    }
}

struct ParameterRange {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t ordinal = 0;
};

// What is wrong with the parameter records, empty when nothing is.
std::string judge_parameters(std::vector<ParameterRange>& parameters, std::uint32_t count, std::uint64_t bytes) {
    if (parameters.size() != count) {
        return std::to_string(parameters.size()) + " PARAM_INFO records";
    }
    std::ranges::sort(parameters, {}, &ParameterRange::ordinal);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].ordinal != i) {
            return "ordinals that do not run from 0 to " + std::to_string(count - 1);
        }
        if (std::uint64_t{parameters[i].offset} + parameters[i].size > bytes) {
            return "parameter " + std::to_string(i) + " ends at byte " +
                   std::to_string(std::uint64_t{parameters[i].offset} + parameters[i].size);
        }
    }
    std::ranges::sort(parameters, {}, &ParameterRange::offset);
    for (std::size_t i = 1; i < parameters.size(); ++i) {
        if (parameters[i].offset - parameters[i - 1].offset < parameters[i - 1].size) {
            return "parameters " + std::to_string(parameters[i - 1].ordinal) + " and " +
                   std::to_string(parameters[i].ordinal) + " overlap";
        }
    }
    return {};
}

void check_parameters(const KernelCheck& check) {
    const std::uint32_t count = check.records.parameter_count.value_or(0);
    if (count == 0) {
        return;
    }
    std::vector<ParameterRange> parameters;
    walk_records(check.content, [&](const Record& record) {
        if (record.type == kernel_record::kParameter) {
            parameters.push_back({record.payload.little<std::uint32_t>(8), record.payload.little<std::uint32_t>(12),
                                  record.payload.little<std::uint32_t>(4)});
        }
    });
    std::string found = judge_parameters(parameters, count, check.records.parameter_bytes);
    if (!found.empty()) {
        check.checking.add(RuleId::META071, check.detail("has parameter records that do not fit their summary",
                                                         counted(count, "parameter") + " inside " +
                                                             counted(check.records.parameter_bytes, "byte"),
                                                         std::move(found)));
    }
}

} // namespace

void check_kernel_records(const Checking& checking) {
    std::unordered_set<const KernelMeta*> done; // symbols of one name share a section
    for (const Kernel& kernel : checking.image.kernels) {
        if (kernel.meta == nullptr || !done.insert(kernel.meta).second) {
            continue;
        }
        const KernelCheck check{checking, kernel, *kernel.meta->section, kernel.meta->records,
                                checking.image.file.content(*kernel.meta->section)};
        if (check.section.size <= 4) {
            continue; // META056 has said so
        }
        check_form(check);
        check_type(check);
        check_synchronisation(check);
        check_entry(check);
        check_stack_and_ub(check);
        check_parameters(check);
        if (!check.records.dfx) {
            checking.add(RuleId::META067, check.detail("takes no arguments that are appended to user memory",
                                                       "a DFX_TYPE record", "none"));
        }
    }
}

} // namespace aivops::kernel_binary
