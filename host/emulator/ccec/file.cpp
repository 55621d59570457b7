#include "file.h"

#include "error.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace aivops::ccec {

void check_is_file(const std::filesystem::path& path) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown))
        throw Error(path.string() + ": no such file");
    if (!std::filesystem::is_regular_file(path, unknown))
        throw Error(path.string() + ": is no file, but a " +
                    (std::filesystem::is_directory(path, unknown) ? "folder" : "device or pipe"));
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    if (!stream || !(content << stream.rdbuf() || stream.peek() == std::ifstream::traits_type::eof()))
        throw Error(path.string() + ": cannot be read: " + std::strerror(errno));
    return std::move(content).str();
}

void write_file(const std::filesystem::path& path, std::string_view content) {
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    if (!stream.write(content.data(), static_cast<std::streamsize>(content.size())).flush())
        throw Error(path.string() + ": cannot be written: " + std::strerror(errno));
}

} // namespace aivops::ccec
