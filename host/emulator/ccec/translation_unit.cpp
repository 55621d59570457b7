#include "translation_unit.h"

#include <algorithm>

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

} // namespace

std::string translation_unit(std::string source, const std::string& shown_name, const Scan& scan,
                             const std::filesystem::path& entry_header) {
    if (source.starts_with("\xEF\xBB\xBF"))
        source.erase(0, 3); // a byte order mark is allowed at the very start of a file only
    auto last_line = static_cast<std::size_t>(std::count(source.begin(), source.end(), '\n'));
    std::string text = line_marker(1, shown_name) + source;
    if (!scan.balanced)
        return text; // the compiler's complaint about the end of the file is all there is to say
    text += "\n\n";  // two, in case a backslash ends the last line
    text += line_marker(last_line, shown_name) + "#include " + quoted(entry_header.string()) + "\n";
    text += "AIVOPS_EMU_CONTRACT\n";
    if (scan.block_locals)
        text += "AIVOPS_EMU_BLOCK_LOCALS\n";
    for (const ScannedKernel& kernel : scan.kernels)
        text += line_marker(kernel.line, kernel.file) + kernel_record(kernel);
    return text;
}

} // namespace aivops::ccec
