// Writes JSON in one pass: objects and arrays nest by calls, commas are its own business. Text has to be UTF-8.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aivops::kernel_binary {

class JsonWriter {
  public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }

    JsonWriter& key(std::string_view name) {
        separate();
        quote(name);
        text_ += ": ";
        after_key_ = true;
        return *this;
    }

    JsonWriter& value(std::string_view text) {
        separate();
        quote(text);
        return *this;
    }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(std::unsigned_integral auto number) { return raw(std::to_string(number)); }
    JsonWriter& null() { return raw("null"); }
    template <typename T>
    JsonWriter& value(const std::optional<T>& maybe) {
        return maybe ? value(*maybe) : null();
    }

    // JSON that is already made.
    JsonWriter& raw(std::string_view json) {
        separate();
        text_ += json;
        return *this;
    }

    const std::string& text() const { return text_; }

  private:
    JsonWriter& open(char bracket) {
        separate();
        text_ += bracket;
        first_ = true;
        return *this;
    }
    JsonWriter& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }
    void separate() {
        if (!first_ && !after_key_) {
            text_ += ", ";
        }
        first_ = false;
        after_key_ = false;
    }
    void quote(std::string_view text) {
        text_ += '"';
        for (const char letter : text) {
            const auto byte = static_cast<unsigned char>(letter);
            if (letter == '"' || letter == '\\') {
                text_ += '\\';
                text_ += letter;
            } else if (byte < 0x20 || byte == 0x7f) {
                text_ += "\\u00";
                text_ += "0123456789abcdef"[byte >> 4];
                text_ += "0123456789abcdef"[byte & 0xf];
            } else {
                text_ += letter;
            }
        }
        text_ += '"';
    }

    std::string text_;
    bool first_ = true;
    bool after_key_ = false;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H
