#include "depfile.h"

#include "file.h"

namespace aivops::ccec {
namespace {

// Spaces, '#' and '$' the way make and Ninja read them.
std::string escaped(const std::string& path) {
    std::string result;
    for (char c : path) {
        if (c == ' ' || c == '#')
            result += '\\';
        else if (c == '$')
            result += '$';
        result += c;
    }
    return result;
}

} // namespace

void replace_prerequisite(const std::filesystem::path& depfile, const std::filesystem::path& generated,
                          const std::string& source) {
    std::string text = read_file(depfile);
    std::string old_name = escaped(generated.string());
    std::string new_name = escaped(source);
    for (std::size_t at = 0; (at = text.find(old_name, at)) != std::string::npos; at += new_name.size())
        text.replace(at, old_name.size(), new_name);
    write_file(depfile, text);
}

} // namespace aivops::ccec
