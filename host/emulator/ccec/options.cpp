#include "options.h"

#include "error.h"
#include "file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace aivops::ccec {
namespace {

enum class Value { none, boolean, number };

struct KnownOption {
    std::string_view name;
    Value value;
};

// Options of the Ascend compiler without a meaning on a CPU: they steer code generation for the core, or passes for the
// host that the emulated compiler has not.
constexpr std::array<KnownOption, 15> kCceOptions{{
    {"--aicore-only", Value::none},
    {"--asc-aicore-lang", Value::none},
    {"--cce-aicore-input-parameter-size", Value::number},
    {"--cce-aicore-lang", Value::none},
    {"--cce-aicore-only", Value::none},
    {"--cce-auto-infer-kernel-type", Value::boolean},
    {"--cce-auto-set-ffts", Value::boolean},
    {"--cce-auto-sync", Value::none},
    {"--cce-disable-asc-reserved-ubuf", Value::none},
    {"--cce-disable-kernel-global-attr-check", Value::none},
    {"--cce-disable-vf-stack-reserved-ubuf", Value::none},
    {"--cce-enable-sanitizer", Value::none},
    {"--cce-fatobj-link", Value::none},
    {"--cce-mask-opt", Value::none},
    {"--cce-no-dcache-flush", Value::none},
}};

// Behind -mllvm, with one dash or two.
constexpr std::array<KnownOption, 10> kLlvmOptions{{
    {"api-deps-filter", Value::none},
    {"cce-aicore-addr-transform", Value::none},
    {"cce-aicore-dcci-insert-for-scalar", Value::boolean},
    {"cce-aicore-fp-ceiling", Value::number},
    {"cce-aicore-function-stack-size", Value::number},
    {"cce-aicore-jump-expand", Value::boolean},
    {"cce-aicore-long-call", Value::none},
    {"cce-aicore-mask-opt", Value::boolean},
    {"cce-aicore-record-overflow", Value::boolean},
    {"cce-aicore-stack-size", Value::number},
}};

// Options of host compilers whose value is the next argument.
constexpr std::array<std::string_view, 20> kSeparateValues{"-I",
                                                           "-D",
                                                           "-U",
                                                           "-L",
                                                           "-l",
                                                           "-T",
                                                           "-u",
                                                           "-z",
                                                           "-include",
                                                           "-imacros",
                                                           "-isystem",
                                                           "-iquote",
                                                           "-idirafter",
                                                           "-iprefix",
                                                           "-isysroot",
                                                           "-Xclang",
                                                           "-target",
                                                           "--sysroot",
                                                           "-Xpreprocessor",
                                                           "-Xassembler"};

template <std::size_t N>
std::string list_names(const std::array<KnownOption, N>& options, std::string_view prefix) {
    std::string names;
    for (const KnownOption& option : options) {
        names += "\n  " + std::string(prefix) + std::string(option.name);
        if (option.value != Value::none)
            names += option.value == Value::boolean ? "=true|false" : "=<number>";
    }
    return names;
}

bool is_number(std::string_view text) {
    bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    std::string_view digits = hexadecimal ? text.substr(2) : text;
    std::string_view allowed = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    return !digits.empty() && digits.find_first_not_of(allowed) == std::string_view::npos;
}

// Whether `text` is one of `options`, with a value where one belongs.
template <std::size_t N>
bool is_known(const std::array<KnownOption, N>& options, std::string_view text) {
    std::size_t equals = text.find('=');
    std::string_view name = text.substr(0, equals);
    auto found = std::find_if(options.begin(), options.end(), [&](const KnownOption& o) { return o.name == name; });
    if (found == options.end())
        return false;
    if (equals == std::string_view::npos)
        return found->value == Value::none;
    std::string_view value = text.substr(equals + 1);
    return found->value == Value::boolean ? value == "true" || value == "false"
                                          : found->value == Value::number && is_number(value);
}

std::string architecture_names() {
    std::string names;
    for (const Architecture& architecture : kArchitectures) {
        names += "\n  --cce-aicore-arch=" + std::string(architecture.cce_name) +
                 " (or --npu-arch=" + std::string(architecture.npu_name) + ")";
    }
    return names;
}

class Parser {
  public:
    explicit Parser(const Command& arguments) : arguments_(arguments) {}

    Options parse() {
        while (next_ < arguments_.size())
            take(arguments_[next_++]);
        check();
        return std::move(options_);
    }

  private:
    void take(const std::string& argument) {
        std::string_view text = argument;
        if (argument.size() < 2 || argument[0] != '-') {
            take_source(argument);
        } else if (take_ascend_option(argument) || take_mode(text) || take_depfile_option(argument)) {
            return;
        } else if (argument == "-x" || text.starts_with("-x")) {
            take_language(argument == "-x" ? value_of(argument) : argument.substr(2));
        } else if (argument == "-o" || text.starts_with("-o")) {
            options_.output = argument == "-o" ? value_of(argument) : argument.substr(2);
            if (options_.output.empty())
                throw Error("-o: a file name must follow");
        } else if (argument == "-gline-tables-only") {
            options_.host_arguments.push_back("-g1"); // the spelling g++ has too
        } else {
            take_host_option(argument);
        }
    }

    bool take_ascend_option(const std::string& argument) {
        std::string_view text = argument;
        constexpr std::string_view kCceArch = "--cce-aicore-arch=";
        constexpr std::string_view kNpuArch = "--npu-arch=";
        if (text.starts_with(kCceArch)) {
            take_architecture(argument, text.substr(kCceArch.size()), &Architecture::cce_name);
        } else if (text.starts_with(kNpuArch)) {
            take_architecture(argument, text.substr(kNpuArch.size()), &Architecture::npu_name);
        } else if (argument == "-mllvm") {
            std::string value = value_of(argument);
            std::size_t name = std::min<std::size_t>(value.find_first_not_of('-'), 2);
            if (name == 0 || !is_known(kLlvmOptions, std::string_view(value).substr(name)))
                throw Error("-mllvm " + value + ": unknown option; known are" + list_names(kLlvmOptions, "-mllvm -"));
        } else if (text.starts_with("--cce-") || text.starts_with("--npu-") || text.starts_with("-cce-") ||
                   text.starts_with("--aicore-") || text.starts_with("--asc-")) {
            if (!is_known(kCceOptions, text))
                throw Error(argument + ": unknown option; known are" + architecture_names() +
                            list_names(kCceOptions, ""));
            device_only_ |= argument == "--cce-aicore-only" || argument == "--aicore-only";
            language_given_ |= argument == "--cce-aicore-lang" || argument == "--asc-aicore-lang";
        } else if (argument == "-Xhost-start") {
            while (value_of(argument) != "-Xhost-end") {
            } // options of a host pass, which an AIV-only build has not
        } else {
            return false;
        }
        return true;
    }

    void take_architecture(const std::string& argument, std::string_view name, std::string_view Architecture::* field) {
        auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& a) { return a.*field == name; });
        if (found == kArchitectures.end())
            throw Error(argument + ": the emulated toolkit has AIV cores only; known are" + architecture_names());
        if (options_.architecture && options_.architecture != &*found)
            throw Error(argument + ": contradicts " + std::string(options_.architecture->cce_name) +
                        ", which was given before");
        options_.architecture = &*found;
    }

    bool take_mode(std::string_view text) {
        if (text == "-c")
            set_mode(Mode::object);
        else if (text == "-S")
            set_mode(Mode::assembly);
        else if (text == "-fsyntax-only")
            set_mode(Mode::check);
        else if (text == "--version")
            set_mode(Mode::version);
        else if (text == "--help")
            set_mode(Mode::help);
        else if (text == "-###")
            options_.print_command = true;
        else if (text == "-E" || text == "-M" || text == "-MM") {
            set_mode(Mode::preprocess);
            options_.host_arguments.emplace_back(text);
        } else
            return false;
        return true;
    }

    // -c gives way to the modes that stop earlier, as in every compiler driver.
    void set_mode(Mode mode) {
        if (mode_given_ && mode == Mode::object)
            return;
        mode_given_ = true;
        options_.mode = mode;
    }

    bool take_depfile_option(const std::string& argument) {
        std::string_view text = argument;
        if (argument == "-MD" || argument == "-MMD") {
            options_.write_depfile = true;
            options_.depfile_arguments.push_back(argument);
        } else if (text.starts_with("-MF")) {
            options_.depfile = argument == "-MF" ? value_of(argument) : argument.substr(3);
        } else if (text.starts_with("-MT") || text.starts_with("-MQ")) {
            options_.depfile_target = true;
            options_.depfile_arguments.push_back(argument.substr(0, 3));
            options_.depfile_arguments.push_back(argument.size() == 3 ? value_of(argument) : argument.substr(3));
        } else {
            return false;
        }
        return true;
    }

    void take_language(const std::string& language) {
        if (language != "cce" && language != "asc")
            throw Error("-x " + language + ": ccec compiles Ascend C; use -x cce (or -x asc)");
        language_given_ = true;
    }

    void take_host_option(const std::string& argument) {
        options_.host_arguments.push_back(argument);
        options_.standard_given |= argument.starts_with("-std=") || argument.starts_with("--std=");
        bool separate = std::find(kSeparateValues.begin(), kSeparateValues.end(), argument) != kSeparateValues.end();
        if (separate)
            options_.host_arguments.push_back(value_of(argument));
        for (std::string_view option : {"-I", "-iquote", "-isystem", "-idirafter"}) {
            if (argument.starts_with(option))
                options_.include_directories.push_back(separate ? options_.host_arguments.back()
                                                                : argument.substr(option.size()));
        }
        if (argument.starts_with("-D")) {
            std::string definition = separate ? options_.host_arguments.back() : argument.substr(2);
            std::size_t equals = definition.find('=');
            options_.definitions[definition.substr(0, equals)] =
                equals == std::string::npos ? "1" : definition.substr(equals + 1);
        }
    }

    void take_source(const std::string& argument) {
        if (!options_.source.empty())
            throw Error(argument + ": one source at a time (" + options_.source +
                        " was given before); objects of several sources are joined by ld.lld");
        options_.source = argument;
    }

    const std::string& value_of(const std::string& option) {
        if (next_ == arguments_.size())
            throw Error(option + ": a value must follow");
        return arguments_[next_++];
    }

    void check() {
        if (options_.mode == Mode::version || options_.mode == Mode::help)
            return;
        if (options_.source.empty())
            throw Error(
                "no source: ccec -c -x cce --cce-aicore-arch=<architecture> --cce-aicore-only <source> -o <object>");
        if (!mode_given_)
            throw Error(options_.source + ": -c is missing; ccec makes objects, and ld.lld links them");
        std::string suffix = std::filesystem::path(options_.source).extension().string();
        if (!language_given_ && suffix != ".cce" && suffix != ".asc")
            throw Error(options_.source + ": is no Ascend C by its suffix; add -x cce");
        check_is_file(options_.source);
        for (const std::string& output : {output_of(options_), depfile_of(options_)}) {
            std::error_code different;
            if (std::filesystem::equivalent(output, options_.source, different))
                throw Error(output + ": is the source, and would be overwritten; name another output");
        }
        if (!options_.architecture)
            throw Error(options_.source + ": no architecture; add one of" + architecture_names());
        if (!device_only_)
            throw Error(options_.source + ": --cce-aicore-only is missing; without it the Ascend compiler also makes a "
                                          "host object, which is no kernel binary");
        check_definition("__NPU_ARCH__", options_.architecture->npu_number);
        check_definition("__CCE_AICORE__", options_.architecture->cce_number);
    }

    void check_definition(const std::string& macro, std::string_view expected) {
        auto given = options_.definitions.find(macro);
        if (given != options_.definitions.end() && given->second != expected)
            throw Error("-D" + macro + "=" + given->second + ": contradicts " +
                        std::string(options_.architecture->cce_name) + ", for which it is " + std::string(expected));
    }

    const Command& arguments_;
    std::size_t next_ = 0;
    bool mode_given_ = false;
    bool language_given_ = false;
    bool device_only_ = false;
    Options options_;
};

} // namespace

std::string output_of(const Options& options) {
    if (!options.output.empty() || (options.mode != Mode::object && options.mode != Mode::assembly))
        return options.output;
    return std::filesystem::path(options.source).stem().string() + (options.mode == Mode::object ? ".o" : ".s");
}

std::string depfile_of(const Options& options) {
    if (!options.write_depfile || !options.depfile.empty())
        return options.depfile;
    return std::filesystem::path(output_of(options)).replace_extension(".d").string();
}

Options parse_options(const Command& arguments) {
    return Parser(arguments).parse();
}

std::string help_text() {
    return "usage: ccec -c -x cce --cce-aicore-arch=<architecture> --cce-aicore-only [options] <source> -o <object>\n"
           "The AivOps emulator's kernel compiler, with the command line of CANN's ccec.\n\nArchitectures:" +
           architecture_names() +
           "\n\nAccepted for CANN's sake; without effect on a CPU:" + list_names(kCceOptions, "") +
           list_names(kLlvmOptions, "-mllvm -") +
           "\n\nEvery other option goes to the host's C++ compiler (AIVOPS_EMU_CXX, else CXX, c++, g++, clang++).\n"
           "-### prints the host command instead of running it.\n";
}

} // namespace aivops::ccec
