// The emulated toolkit's kernel compiler: CANN's command line over the host's C++ compiler.
// One preprocessor pass finds the kernels, one compilation makes the object with the records the emulator reads.
#include "depfile.h"
#include "error.h"
#include "file.h"
#include "host_compiler.h"
#include "missing_names.h"
#include "options.h"
#include "process.h"
#include "toolkit.h"
#include "translation_unit.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace aivops::ccec {
namespace {

void append(Command& command, const Command& more) {
    command.insert(command.end(), more.begin(), more.end());
}

// What the qualifiers of a kernel stand for.
struct Qualifiers {
    const char* global;
    const char* aicore;
};
constexpr Qualifiers kCompiled{"__attribute__((visibility(\"default\")))", ""};
constexpr Qualifiers kScanned{"__global__", "__aicore__"};

// What every pass over the source has in common.
Command host_command(const Options& options, const Qualifiers& qualifiers, const Scan& scan) {
    const Architecture& architecture = *options.architecture;
    Command command = find_host_compiler();
    // Defaults the user's own options may override. Floating point must not depend on what the host's CPU can contract.
    append(command, {"-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-fno-threadsafe-statics",
                     "-fno-math-errno", "-ffp-contract=off", "-Wno-attributes", "-Wno-unknown-pragmas"});
    // The Ascend compiler is a clang, for which these are errors; GCC would warn.
    append(command, {"-Werror=narrowing", "-Werror=pointer-arith", "-Werror=register"});
    if (!options.standard_given)
        command.push_back("-std=c++17");
    std::vector<std::pair<std::string, std::string>> predefined{
        {"__global__", qualifiers.global},
        {"__aicore__", scan.aicore_attributes ? "[aicore]" : qualifiers.aicore}, // as sources that say so define it
        {"__gm__", ""},
        {"__ubuf__", ""},
        {"__vector__", ""},
        {"__CCE_AICORE__", std::string(architecture.cce_number)},
        {"__NPU_ARCH__", std::string(architecture.npu_number)},
        {std::string(architecture.family_macro), "1"},
        {std::string(architecture.vector_macro), "1"},
        {"AIVOPS_EMULATOR", "1"},
    };
    if (scan.block_locals)
        predefined.emplace_back("block_local", "gnu::section(\"aivops_block_local\")");
    for (const auto& [macro, value] : predefined) {
        if (!options.definitions.contains(macro))
            command.push_back("-D" + macro + "=" + value);
    }
    append(command, options.host_arguments);
    append(command, {"-idirafter", ascendc_include_directory().string()});
    // Not negotiable: the object goes into a shared library whose only visible functions are the kernels, and the
    // machine reads the place in the kernel from return addresses, which a jump instead of a call would lose.
    append(command, {"-fPIC", "-fvisibility=hidden", "-fno-lto", "-fno-optimize-sibling-calls"});
    // GCC would let functions of the same code, or calls of two instructions, share one place.
    if (scan.by_gcc)
        append(command, {"-fno-ipa-icf", "-fno-crossjumping", "-fno-tree-tail-merge"});
    return command;
}

// Names in an object do not tell where its tree lies: __FILE__ is relative to the source's folder or an include folder.
// Debug information keeps the real places.
Command prefix_maps(const Options& options, const std::filesystem::path& source) {
    Command maps{"-fmacro-prefix-map=" + source.parent_path().string() + "/="};
    for (const std::string& folder : options.include_directories)
        maps.push_back("-fmacro-prefix-map=" + folder + (folder.ends_with('/') ? "=" : "/="));
    maps.push_back("-fmacro-prefix-map=" + ascendc_include_directory().string() + "/=");
    return maps;
}

Scan scan_source(const Options& options) {
    Command command = host_command(options, kScanned, {});
    // Nothing there is a kernel's, so what the toolkit's headers take from the standard's need not be read.
    append(command, {"-DAIVOPS_EMULATOR_SCAN", "-E", "-dD", "-w", "-x", "c++", options.source});
    Captured preprocessed = run_captured(command, Stream::output);
    // When even this fails, the compilation shows what is wrong.
    return preprocessed.status == 0 ? scan_kernels(preprocessed.text) : Scan{.balanced = false};
}

// Whether the Ascend compiler would take the kernels as such; says what it would not.
bool check_kernels(const Scan& scan) {
    bool good = true;
    for (const ScannedKernel& kernel : scan.kernels) {
        if (kernel.aicore)
            continue;
        good = false;
        std::fprintf(stderr,
                     "%s:%u: error: kernel %s is not marked __aicore__; a kernel is defined as "
                     "extern \"C\" __global__ __aicore__ void %s(...)\n",
                     kernel.file.c_str(), kernel.line, kernel.symbol.c_str(), kernel.symbol.c_str());
    }
    return good;
}

// The compiler's message names what it does not know; that Ascend C has it and the emulator has not, only we know.
void explain_missing_names(Command command) {
    setenv("LC_ALL", "C", 1); // the messages of all languages in one
    append(command, {"-fsyntax-only", "-fdiagnostics-color=never"});
    for (const std::string& name : missing_names(run_captured(command, Stream::error).text))
        std::fprintf(stderr, "ccec: note: %s is not emulated; %s lists what is\n", name.c_str(),
                     ascendc_page().c_str());
}

int compile(const Options& options) {
    std::string output = output_of(options);
    Command result{options.mode == Mode::object ? "-c" : "-S", "-o", output};
    Scan scan = scan_source(options);
    if (options.print_command) {
        Command command = host_command(options, kCompiled, scan);
        append(command, {"-x", "c++", options.source});
        append(command, result);
        std::fprintf(stderr, "%s\n", shell_line(command).c_str());
        return 0;
    }

    std::filesystem::path source = std::filesystem::absolute(options.source);
    if (!check_kernels(scan))
        return 1;
    TemporaryDirectory directory = scratch_directory();
    std::filesystem::path unit = directory.path() / source.filename();
    std::filesystem::path entry_header = ascendc_include_directory() / "aivops_emulator" / "kernel_entry.h";
    write_file(unit, translation_unit({read_file(source), source, options.source}, scan, entry_header));

    Command command = host_command(options, kCompiled, scan);
    append(command, {"-iquote", source.parent_path().string()}); // where quoted includes are looked for first
    append(command, prefix_maps(options, source));
    append(command,
           {"-ffile-prefix-map=" + directory.path().string() + "/=", "-frandom-seed=" + source.filename().string()});
    std::filesystem::path depfile = depfile_of(options);
    if (options.write_depfile) {
        append(command, options.depfile_arguments);
        append(command, {"-MF", depfile.string()});
        if (!options.depfile_target)
            append(command, {"-MQ", output});
    }
    append(command, {"-x", "c++", unit.string()});
    if (scan.aicore_attributes) {
        std::filesystem::path expanded = directory.path() / "preprocessed.ii";
        append(command, {"-E", "-o", expanded.string()});
        if (int status = run(command); status != 0)
            return status;
        write_file(expanded, without_aicore_attributes(read_file(expanded)));
        command = host_command(options, kCompiled, scan);
        // clang warns of options that only preprocessing heeds.
        append(command, {"-Wno-unused-command-line-argument", "-frandom-seed=" + source.filename().string(), "-x",
                         "c++-cpp-output", expanded.string()});
    }
    append(command, result);
    int status = run_host_compiler(command, output);
    if (status != 0)
        explain_missing_names(command);
    else if (options.write_depfile)
        replace_prerequisite(depfile, unit, options.source);
    return status;
}

// -E, -M, -MM and -fsyntax-only: the host compiler's own answer about the user's source.
int pass_through(const Options& options) {
    Command command = host_command(options, kCompiled, {});
    if (options.mode == Mode::check)
        command.push_back("-fsyntax-only");
    if (options.write_depfile)
        append(command, options.depfile_arguments);
    if (!options.depfile.empty())
        append(command, {"-MF", options.depfile});
    append(command, {"-x", "c++", options.source});
    if (!options.output.empty())
        append(command, {"-o", options.output});
    if (options.print_command) {
        std::fprintf(stderr, "%s\n", shell_line(command).c_str());
        return 0;
    }
    return run(command);
}

int drive(const Command& arguments) {
    Options options = parse_options(arguments);
    switch (options.mode) {
    case Mode::help:
        std::fputs(help_text().c_str(), stdout);
        return 0;
    case Mode::version:
        std::printf("ccec %s (AivOps emulated toolkit)\n", AIVOPS_VERSION);
        return 0;
    case Mode::preprocess:
    case Mode::check:
        return pass_through(options);
    case Mode::object:
    case Mode::assembly:
        return compile(options);
    }
    return 1;
}

} // namespace
} // namespace aivops::ccec

int main(int argc, char** argv) {
    try {
        return aivops::ccec::drive({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ccec: error: %s\n", error.what());
        return 1;
    }
}
