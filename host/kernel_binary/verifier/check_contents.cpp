// What the bytes give away: paths of the machine that built them, and the compiler's stamp.
#include "verifier/checks.h"

#include <algorithm>
#include <set>

namespace aivops::kernel_binary {
namespace {

constexpr std::string_view kRoots[] = {"home/", "root/", "tmp/", "workspace/", "mnt/", "build/", "Users/", "data/"};

// A letter that may stand before a '/' inside a longer path, which then is not absolute.
bool continues_path(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           std::string_view("._-/~+)}>").find(letter) != std::string_view::npos;
}

bool is_path_letter(char letter) {
    return letter > ' ' && letter < 0x7f && letter != '"' && letter != '\'';
}

// The first absolute path below one of the roots, npos when there is none.
std::size_t find_build_path(std::string_view bytes) {
    for (std::size_t at = bytes.find('/'); at != std::string_view::npos; at = bytes.find('/', at + 1)) {
        if (at > 0 && continues_path(bytes[at - 1])) {
            continue;
        }
        const std::string_view rest = bytes.substr(at + 1, 64);
        for (const std::string_view root : kRoots) {
            if (rest.starts_with(root) && rest.size() > root.size() && is_path_letter(rest[root.size()])) {
                return at;
            }
        }
    }
    return std::string_view::npos;
}

void check_paths(const Checking& checking) {
    const std::string_view bytes = checking.image.bytes().text();
    const std::size_t at = find_build_path(bytes);
    if (at == std::string_view::npos) {
        return;
    }
    const std::string_view rest = bytes.substr(at, 200);
    const std::string_view path(rest.begin(), std::ranges::find_if_not(rest, is_path_letter));
    std::string_view section;
    for (const Section& candidate : checking.image.file.sections()) {
        if (candidate.occupies_file() && candidate.offset <= at && at - candidate.offset < candidate.size) {
            section = candidate.name;
        }
    }
    checking.add(RuleId::META101, {.section = section,
                                   .offset = at,
                                   .message = "the file holds a path of the machine that built it",
                                   .expected = "relative paths",
                                   .found = printable(path)});
}

// `.comment` holds one NUL-terminated stamp per tool; the compiler's are those that name a compiler or a version.
void check_stamp(const Checking& checking) {
    const Section* section = checking.image.file.find(".comment");
    std::string_view rest = section == nullptr ? std::string_view() : checking.image.file.content(*section).text();
    std::set<std::string_view> stamps;
    while (!rest.empty() && stamps.size() < 16) {
        const std::string_view stamp = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(stamp.size() + 1, rest.size()));
        if (!stamp.empty() && !stamp.starts_with("Linker:")) {
            stamps.insert(stamp);
        }
    }
    if (stamps.size() != 1) {
        checking.add(RuleId::META106, {.section = section == nullptr ? std::string_view() : section->name,
                                       .message = stamps.empty() ? "the file has no compiler stamp"
                                                                 : "the file has several compiler stamps",
                                       .expected = "one",
                                       .found = std::to_string(stamps.size())});
    }
}

} // namespace

void check_contents(const Checking& checking) {
    check_paths(checking);
    check_stamp(checking);
}

} // namespace aivops::kernel_binary
