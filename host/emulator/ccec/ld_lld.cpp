// The emulated toolkit's kernel linker: CANN's `ld.lld -m aicorelinux` command line over the host's linker.
// Its output is a shared library, the form in which a host loads code. It needs the C library and nothing else.
#include "error.h"
#include "file.h"
#include "host_compiler.h"
#include "linked_objects.h"
#include "own_functions.h"
#include "process.h"

#include <cstdio>
#include <filesystem>

namespace aivops::ccec {
namespace {

constexpr const char* kUsage = "ld.lld -m aicorelinux -Ttext=0 <object>... -static -o <binary>";

struct LinkOptions {
    std::string output;
    std::vector<std::string> inputs;
    bool aicore = false;
    bool text_at_zero = false;
    bool is_static = false;
    bool relocatable = false;      // -r
    bool emit_relocations = false; // -q
    bool discard_locals = false;   // -x
    bool print_command = false;    // -###
    bool version = false;
};

LinkOptions parse(const Command& arguments) {
    LinkOptions options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        auto value = [&]() -> const std::string& {
            if (i + 1 == arguments.size())
                throw Error(argument + ": a value must follow");
            return arguments[++i];
        };
        if (argument == "-m" || argument == "-maicorelinux") {
            std::string emulation = argument == "-m" ? value() : "aicorelinux";
            if (emulation != "aicorelinux")
                throw Error("-m " + emulation + ": kernels are linked with -m aicorelinux");
            options.aicore = true;
        } else if (argument == "-Ttext=0" || argument == "-Ttext=0x0") {
            options.text_at_zero = true;
        } else if (argument == "-o") {
            options.output = value();
        } else if (argument == "-static") {
            options.is_static = true;
        } else if (argument == "-r" || argument == "--relocatable") {
            options.relocatable = true;
        } else if (argument == "-q" || argument == "--emit-relocs") {
            options.emit_relocations = true;
        } else if (argument == "-x" || argument == "--discard-all") {
            options.discard_locals = true;
        } else if (argument == "-###") {
            options.print_command = true;
        } else if (argument == "--version") {
            options.version = true;
        } else if (argument.starts_with("-")) {
            throw Error(argument + ": unknown option; known are -m aicorelinux, -Ttext=0, -static, -o, -r, -q, -x");
        } else {
            options.inputs.push_back(argument);
        }
    }
    return options;
}

void check(const LinkOptions& options) {
    std::string usage = std::string("; the link line of a kernel binary is ") + kUsage;
    if (options.inputs.empty())
        throw Error("no object to link" + usage);
    for (const std::string& input : options.inputs) {
        check_is_file(input);
    }
    if (options.output.empty())
        throw Error("no output: -o is missing" + usage);
    if (!options.aicore)
        throw Error(options.output + ": -m aicorelinux is missing" + usage);
    if (!options.text_at_zero)
        throw Error(options.output + ": -Ttext=0 is missing; kernel entries count from the start of the image" + usage);
    if (!options.is_static && !options.relocatable)
        throw Error(options.output + ": -static (or -r) is missing" + usage);
}

Command link_command(const LinkOptions& options, const std::vector<std::string>& inputs, const std::string& output) {
    Command command = find_host_compiler();
    auto append = [&](std::initializer_list<const char*> more) {
        command.insert(command.end(), more.begin(), more.end());
    };
    if (options.relocatable) {
        append({"-r", "-nostdlib"});
    } else {
        // Sections with metadata are kept by never collecting any; symbols a kernel misses are an error now, not on
        // loading.
        append({"-shared", "-nodefaultlibs", "-Wl,-z,defs", "-Wl,-z,noexecstack", "-Wl,-Bsymbolic",
                "-Wl,--no-gc-sections", "-Wl,--build-id=none", "-Wl,--hash-style=gnu"});
    }
    if (options.emit_relocations && !options.relocatable)
        append({"-Wl,--emit-relocs"});
    if (options.discard_locals)
        append({"-Wl,--discard-all"});
    command.insert(command.end(), inputs.begin(), inputs.end());
    if (!options.relocatable)
        append({"-Wl,--as-needed", "-lm", "-lc", "-lgcc"});
    append({"-o"});
    command.push_back(output);
    return command;
}

int link(const LinkOptions& options, const std::filesystem::path& output) {
    if (options.inputs.size() == 1)
        return run_host_compiler(link_command(options, options.inputs, output.string()), output);
    TemporaryDirectory directory = scratch_directory();
    std::vector<std::string> copies = copy_with_own_functions(options.inputs, directory.path());
    ShownNames shown;
    for (std::size_t i = 0; i < copies.size(); ++i)
        shown.emplace_back(copies[i], options.inputs[i]);
    return run_host_compiler(link_command(options, copies, output.string()), output, shown);
}

int drive(const Command& arguments) {
    LinkOptions options = parse(arguments);
    if (options.version) {
        std::printf("ld.lld %s (AivOps emulated toolkit)\n", AIVOPS_VERSION);
        return 0;
    }
    check(options);
    if (options.print_command) {
        std::fprintf(stderr, "%s\n", shell_line(link_command(options, options.inputs, options.output)).c_str());
        return 0;
    }
    check_linked_objects(options.inputs);
    std::filesystem::path output = std::filesystem::absolute(options.output);
    if (std::filesystem::is_directory(output))
        throw Error(options.output + ": is a folder");
    // The output may be one of the inputs, and a failed link leaves what was there before. A device takes the bytes, as
    // /dev/null does: no file takes its place.
    const bool is_device = std::filesystem::exists(output) && !std::filesystem::is_regular_file(output);
    TemporaryDirectory directory(is_device ? std::filesystem::temp_directory_path() : output.parent_path(),
                                 "the binary is linked there first");
    std::filesystem::path linked = directory.path() / output.filename();
    int status = link(options, linked);
    if (status == 0 && is_device)
        write_file(output, read_file(linked));
    else if (status == 0)
        std::filesystem::rename(linked, output);
    return status;
}

} // namespace
} // namespace aivops::ccec

int main(int argc, char** argv) {
    try {
        return aivops::ccec::drive({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ld.lld: error: %s\n", error.what());
        return 1;
    }
}
