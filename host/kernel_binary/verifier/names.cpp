// Names in messages: how they are shown.
#include "verifier/checks.h"

#include <charconv>

namespace aivops::kernel_binary {

std::string hex(std::uint64_t value) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
    return "0x" + std::string(digits, end);
}

std::string kernel_entity(std::string_view name) {
    return "kernel " + printable(name);
}

std::string section_entity(std::string_view name) {
    return "section " + (name.empty() ? "without a name" : printable(name));
}

bool is_mangled_form_of(std::string_view mangled, std::string_view name) {
    return mangled.starts_with("_Z") && !name.empty() && !name.starts_with("_Z") &&
           mangled.find(std::to_string(name.size()) + std::string(name)) != std::string_view::npos;
}

} // namespace aivops::kernel_binary
