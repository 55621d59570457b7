#include "host_compiler.h"

#include "error.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace aivops::ccec {
namespace {

constexpr const char* kAdvice = "install g++ >= 11 or clang++ >= 14, or set AIVOPS_EMU_CXX to a C++ compiler";

// A path may hold spaces; only a value that is no program itself is taken as a command with words.
Command from_variable(const char* variable, const std::string& value) {
    if (find_program(value))
        return {value};
    Command words;
    std::istringstream stream(value);
    for (std::string word; stream >> word;)
        words.push_back(word);
    if (words.empty() || !find_program(words.front())) {
        throw Error("no C++ compiler: " + std::string(variable) + " is '" + value +
                    "', which is no program that can be run; " + kAdvice);
    }
    return words;
}

int run_showing(const Command& command, const ShownNames& shown) {
    Captured captured = run_captured(command, Stream::error);
    for (const auto& [said, name] : shown) {
        for (std::size_t at = 0; (at = captured.text.find(said, at)) != std::string::npos; at += name.size())
            captured.text.replace(at, said.size(), name);
    }
    std::fwrite(captured.text.data(), 1, captured.text.size(), stderr);
    return captured.status;
}

} // namespace

Command find_host_compiler() {
    for (const char* variable : {"AIVOPS_EMU_CXX", "CXX"}) {
        const char* value = std::getenv(variable);
        if (value && *value)
            return from_variable(variable, value);
    }
    for (const char* name : {"c++", "g++", "clang++"}) {
        if (find_program(name))
            return {name};
    }
    throw Error("no C++ compiler: AIVOPS_EMU_CXX and CXX are not set and c++, g++ and clang++ are not in PATH; the "
                "emulated toolkit compiles kernels with the host's compiler: " +
                std::string(kAdvice));
}

int run_host_compiler(const Command& command, const std::filesystem::path& output, const ShownNames& shown) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(output, unreadable))
        std::filesystem::remove(output, unreadable);
    int status = shown.empty() ? run(command) : run_showing(command, shown);
    if (status == 0 && !std::filesystem::exists(output, unreadable)) {
        throw Error(output.string() + ": was not written, although " + command.front() +
                    " ended with status 0; is it a C++ compiler? " + kAdvice);
    }
    return status;
}

} // namespace aivops::ccec
