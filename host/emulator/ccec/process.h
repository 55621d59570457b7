// Runs host tools: a command is an argument vector, never a shell string.
#ifndef AIVOPS_EMULATOR_CCEC_PROCESS_H
#define AIVOPS_EMULATOR_CCEC_PROCESS_H

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace aivops::ccec {

using Command = std::vector<std::string>;

// Runs `command` with this process's streams and returns its exit status (128 + signal when a signal ended it).
// Signals that ask this process to stop are handed to the command, so that temporary files can still be removed.
int run(const Command& command);

// What a command wrote to one of its streams; the other one is discarded.
struct Captured {
    int status; // as of `run`
    std::string text;
};
enum class Stream { output = 1, error = 2 };
Captured run_captured(const Command& command, Stream stream);

// The command as a line a shell takes back.
std::string shell_line(const Command& command);

// The file a command name stands for: itself when it holds a slash, else the first match in PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

// A private directory that goes away with the object.
class TemporaryDirectory {
  public:
    // An Error that ends with `advice` when `parent` does not take one.
    TemporaryDirectory(const std::filesystem::path& parent, const std::string& advice);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// One where temporary files belong: TMPDIR, else /tmp.
TemporaryDirectory scratch_directory();

} // namespace aivops::ccec

#endif
