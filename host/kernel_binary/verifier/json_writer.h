// Writes JSON in one pass: objects and arrays nest by calls, commas are its own business. Text has to be UTF-8.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace aivops::kernel_binary {

class JsonWriter {
  public:
    JsonWriter() { text_.reserve(4096); }

    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }

    // Names of keys are the program's own and need no escapes.
    JsonWriter& key(std::string_view name) {
        separate();
        text_ += '"';
        text_ += name;
        text_ += "\": ";
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
    static bool needs_escape(char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte < 0x20 || byte == 0x7f || letter == '"' || letter == '\\';
    }
    void escape(char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        text_ += '\\';
        if (letter == '"' || letter == '\\') {
            text_ += letter;
            return;
        }
        text_ += "u00";
        text_ += "0123456789abcdef"[byte >> 4];
        text_ += "0123456789abcdef"[byte & 0xf];
    }
    // None of eight letters needs an escape: the usual case, tested on all of them at once.
    static bool plain_eight(const char* letters) {
        constexpr std::uint64_t kOnes = 0x0101010101010101;
        constexpr std::uint64_t kHighs = 0x8080808080808080;
        std::uint64_t word = 0;
        std::memcpy(&word, letters, sizeof(word));
        const auto zeros = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHighs; };
        const std::uint64_t controls = (word - kOnes * 0x20) & ~word & kHighs;
        return (controls | zeros(word ^ kOnes * '"') | zeros(word ^ kOnes * '\\') | zeros(word ^ kOnes * 0x7f)) == 0;
    }
    void quote(std::string_view text) {
        text_ += '"';
        std::size_t start = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            while (text.size() - i > 8 && plain_eight(text.data() + i)) {
                i += 8;
            }
            if (needs_escape(text[i])) {
                text_.append(text, start, i - start);
                escape(text[i]);
                start = i + 1;
            }
        }
        text_.append(text, start);
        text_ += '"';
    }

    std::string text_;
    bool first_ = true;
    bool after_key_ = false;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_JSON_WRITER_H
