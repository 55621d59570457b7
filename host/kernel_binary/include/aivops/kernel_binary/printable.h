// Names from files are data: before they are shown, control bytes, bytes that are not UTF-8 and characters that reorder
// text become \xNN, and long ones are cut.
#ifndef AIVOPS_KERNEL_BINARY_PRINTABLE_H
#define AIVOPS_KERNEL_BINARY_PRINTABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace aivops::kernel_binary {

// Bytes of the well-formed UTF-8 character at the start of `text`, 0 when there is none; `code` is its code point.
inline std::size_t utf8_length(std::string_view text, std::uint32_t& code) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.empty()) {
        return 0;
    }
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        code = lead;
        return 1;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return 0;
    }
    code = lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

// C0, DEL, C1, line and paragraph separators, and the bidirectional controls.
inline bool is_control(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

// Length of the run of letters at the start that are shown as they are.
inline std::size_t plain_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && text[length] >= ' ' && text[length] <= '~' && text[length] != '\\') {
        ++length;
    }
    return length;
}

inline std::string printable(std::string_view text, std::size_t limit = 256) {
    std::string shown;
    std::size_t at = 0;
    while (at < text.size()) {
        if (shown.size() >= limit) {
            return shown + "...";
        }
        const std::size_t plain = plain_length(text.substr(at, limit - shown.size()));
        shown.append(text, at, plain);
        at += plain;
        if (plain != 0) {
            continue;
        }
        std::uint32_t code = 0;
        const std::size_t length = utf8_length(text.substr(at), code);
        if (length != 0 && !is_control(code) && code != '\\') {
            shown.append(text, at, length);
            at += length;
            continue;
        }
        for (const std::size_t end = at + (length == 0 ? 1 : length); at < end; ++at) {
            const auto byte = static_cast<unsigned char>(text[at]);
            shown += "\\x";
            shown += "0123456789abcdef"[byte >> 4];
            shown += "0123456789abcdef"[byte & 0xf];
        }
    }
    return shown;
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_PRINTABLE_H
