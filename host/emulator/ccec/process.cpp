#include "process.h"

#include "error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace aivops::ccec {
namespace {

volatile std::sig_atomic_t running_child = 0;

extern "C" void forward_signal(int signal) {
    if (running_child > 0)
        kill(static_cast<pid_t>(running_child), signal);
}

// Forwards termination requests while a child runs.
class SignalForwarding {
  public:
    SignalForwarding() {
        struct sigaction action{};
        action.sa_handler = forward_signal;
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &action, &old_[i]);
    }
    ~SignalForwarding() {
        running_child = 0;
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &old_[i], nullptr);
    }

  private:
    static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 3> old_{};
};

pid_t spawn(const Command& command, const posix_spawn_file_actions_t* actions) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (int code = posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(), environ); code != 0)
        throw Error("cannot run " + command.front() + ": " + std::strerror(code));
    return child;
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            throw Error(std::string("cannot wait for a host tool: ") + std::strerror(errno));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

int run(const Command& command) {
    SignalForwarding forwarding;
    running_child = spawn(command, nullptr);
    return wait_for(static_cast<pid_t>(running_child));
}

Captured run_captured(const Command& command, Stream stream) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw Error(std::string("cannot open a pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int discarded = stream == Stream::output ? STDERR_FILENO : STDOUT_FILENO;
    posix_spawn_file_actions_adddup2(&actions, ends[1], static_cast<int>(stream));
    posix_spawn_file_actions_addopen(&actions, discarded, "/dev/null", O_WRONLY, 0);
    SignalForwarding forwarding;
    running_child = spawn(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    Captured captured{};
    std::array<char, 1 << 16> buffer;
    for (;;) {
        ssize_t count = read(ends[0], buffer.data(), buffer.size());
        if (count > 0)
            captured.text.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    captured.status = wait_for(static_cast<pid_t>(running_child));
    return captured;
}

std::string shell_line(const Command& command) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";
    std::string line;
    for (const std::string& argument : command) {
        if (!line.empty())
            line += ' ';
        if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) {
            line += argument;
            continue;
        }
        line += '\'';
        for (char c : argument)
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos)
        return access(name.c_str(), X_OK) == 0 ? std::optional<std::filesystem::path>(name) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "";
    while (!rest.empty()) {
        std::size_t colon = rest.find(':');
        std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / name;
        std::error_code ignored;
        if (access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate, ignored))
            return candidate;
        rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
    return std::nullopt;
}

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& parent, const std::string& advice) {
    std::string pattern = (parent / "aivops-ccec-XXXXXX").string();
    if (!mkdtemp(pattern.data())) {
        throw Error("cannot make a temporary directory in " + parent.string() + ": " + std::strerror(errno) + "; " +
                    advice);
    }
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

TemporaryDirectory scratch_directory() {
    const char* named = std::getenv("TMPDIR");
    if (named && *named)
        return {named, "TMPDIR names that directory: set it to one that exists and can be written"};
    return {"/tmp", "set TMPDIR to a directory that can be written"};
}

} // namespace aivops::ccec
