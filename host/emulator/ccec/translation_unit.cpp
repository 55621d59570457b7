#include "translation_unit.h"

#include <algorithm>
#include <string_view>

namespace aivops::ccec {
namespace {

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + '"';
}

std::string line_marker(std::size_t line, const std::string& file) {
    return "#line " + std::to_string(std::max<std::size_t>(line, 1)) + " " + quoted(file) + "\n";
}

std::string kernel_record(const ScannedKernel& kernel) {
    std::string record = "AIVOPS_EMU_KERNEL(" + kernel.qualified_name + ", " + kernel.symbol;
    for (const std::string& name : kernel.parameter_names)
        record += ", " + quoted(name);
    return record + ")\n";
}

// A line "#pragma once", wherever it may stand.
bool says_once(std::string_view text) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::string words;
        for (char c : line) {
            if (c != ' ' && c != '\t' && c != '\r')
                words += c;
        }
        if (words.starts_with("#pragmaonce"))
            return true;
    }
    return false;
}

std::string source_text(const Source& source) {
    if (says_once(source.text))
        return line_marker(1, source.shown_name) + "#include " + quoted(source.path.string()) + "\n";
    std::string_view text = source.text;
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3); // a byte order mark is allowed at the very start of a file only
    return line_marker(1, source.shown_name) + std::string(text);
}

} // namespace

std::string translation_unit(const Source& source, const Scan& scan, const std::filesystem::path& entry_header) {
    std::string text = source_text(source);
    if (!scan.balanced)
        return text; // the compiler's complaint about the end of the file is all there is to say
    auto last_line = static_cast<std::size_t>(std::count(source.text.begin(), source.text.end(), '\n'));
    text += "\n\n"; // two, in case a backslash ends the last line
    text += line_marker(last_line, source.shown_name) + "#include " + quoted(entry_header.string()) + "\n";
    text += "AIVOPS_EMU_CONTRACT\n";
    if (scan.block_locals)
        text += "AIVOPS_EMU_BLOCK_LOCALS\n";
    for (const ScannedKernel& kernel : scan.kernels)
        text += line_marker(kernel.line, kernel.file) + kernel_record(kernel);
    return text;
}

} // namespace aivops::ccec
