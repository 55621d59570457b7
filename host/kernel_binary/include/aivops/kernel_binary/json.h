// A strict reader for the small JSON documents that travel with kernels (manifests, sidecars): RFC 8259, UTF-8 only, no
// duplicate keys, bounded depth. Errors name line and column.
#ifndef AIVOPS_KERNEL_BINARY_JSON_H
#define AIVOPS_KERNEL_BINARY_JSON_H

#include "aivops/kernel_binary/printable.h"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

namespace aivops::kernel_binary {

class JsonError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class Json {
  public:
    enum class Kind { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };

    Kind kind = Kind::kNull;
    bool boolean = false;
    std::uint64_t integer = 0; // a number written without sign, fraction and exponent, below 2^64
    std::string text;          // of a string; of a number as it was written
    std::vector<Json> items;   // of an array; the values of an object
    std::vector<std::string> keys;

    bool is(Kind wanted) const { return kind == wanted; }

    const Json* find(std::string_view key) const {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key) {
                return &items[i];
            }
        }
        return nullptr;
    }
};

class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    Json read() {
        Json value = read_value(0);
        skip_space();
        if (at_ != text_.size()) {
            fail("something follows the document");
        }
        return value;
    }

  private:
    static constexpr int kMaxDepth = 64;

    [[noreturn]] void fail(const std::string& what) const {
        std::size_t line = 1;
        std::size_t column = 1;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            column = text_[i] == '\n' ? 1 : column + 1;
            line += text_[i] == '\n' ? 1 : 0;
        }
        throw JsonError("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what);
    }

    bool done() const { return at_ == text_.size(); }
    char peek() const { return done() ? '\0' : text_[at_]; }

    void skip_space() {
        while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
            ++at_;
        }
    }

    bool take(char wanted) {
        if (done() || peek() != wanted) {
            return false;
        }
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!take(wanted)) {
            fail(std::string("expected '") + wanted + "'");
        }
    }

    Json read_value(int depth) {
        if (depth > kMaxDepth) {
            fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
        }
        skip_space();
        Json value;
        switch (peek()) {
        case '{':
            read_object(value, depth);
            break;
        case '[':
            read_array(value, depth);
            break;
        case '"':
            value.kind = Json::Kind::kString;
            value.text = read_string();
            break;
        case 't':
        case 'f':
        case 'n':
            read_word(value);
            break;
        default:
            read_number(value);
        }
        return value;
    }

    void read_object(Json& value, int depth) {
        value.kind = Json::Kind::kObject;
        expect('{');
        skip_space();
        if (take('}')) {
            return;
        }
        std::unordered_set<std::string> seen;
        do {
            skip_space();
            std::string key = read_string();
            if (!seen.insert(key).second) {
                fail("the key \"" + printable(key) + "\" is there twice");
            }
            value.keys.push_back(std::move(key));
            skip_space();
            expect(':');
            value.items.push_back(read_value(depth + 1));
            skip_space();
        } while (take(','));
        expect('}');
    }

    void read_array(Json& value, int depth) {
        value.kind = Json::Kind::kArray;
        expect('[');
        skip_space();
        if (take(']')) {
            return;
        }
        do {
            value.items.push_back(read_value(depth + 1));
            skip_space();
        } while (take(','));
        expect(']');
    }

    void read_word(Json& value) {
        const auto is_next = [&](std::string_view word) {
            if (text_.substr(at_, word.size()) != word) {
                return false;
            }
            at_ += word.size();
            return true;
        };
        if (is_next("null")) {
            return;
        }
        value.kind = Json::Kind::kBool;
        value.boolean = peek() == 't';
        if (!is_next("true") && !is_next("false")) {
            fail("expected a value");
        }
    }

    void read_digits() {
        if (peek() < '0' || peek() > '9') {
            fail("expected a value");
        }
        while (peek() >= '0' && peek() <= '9') {
            ++at_;
        }
    }

    void read_number(Json& value) {
        const std::size_t start = at_;
        const bool negative = take('-');
        if (peek() == '0') {
            ++at_;
        } else {
            read_digits();
        }
        const bool whole = peek() != '.' && peek() != 'e' && peek() != 'E';
        if (take('.')) {
            read_digits();
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            read_digits();
        }
        value.text = std::string(text_.substr(start, at_ - start));
        value.kind =
            whole && !negative && parse_integer(value.text, value.integer) ? Json::Kind::kInteger : Json::Kind::kNumber;
    }

    static bool parse_integer(std::string_view digits, std::uint64_t& value) {
        for (const char digit : digits) {
            const auto next = static_cast<std::uint64_t>(digit - '0');
            if (value > (UINT64_MAX - next) / 10) {
                return false;
            }
            value = value * 10 + next;
        }
        return true;
    }

    std::uint32_t read_hex4() {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char digit = peek();
            if (digit >= '0' && digit <= '9') {
                code = code << 4 | static_cast<std::uint32_t>(digit - '0');
            } else if ((digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F')) {
                code = code << 4 | static_cast<std::uint32_t>((digit | 0x20) - 'a' + 10);
            } else {
                fail("expected four hexadecimal digits");
            }
            ++at_;
        }
        return code;
    }

    std::uint32_t read_unicode_escape() {
        const std::uint32_t code = read_hex4();
        if (code < 0xd800 || code > 0xdfff) {
            return code;
        }
        if (code > 0xdbff || !take('\\') || !take('u')) {
            fail("half of a surrogate pair");
        }
        const std::uint32_t low = read_hex4();
        if (low < 0xdc00 || low > 0xdfff) {
            fail("half of a surrogate pair");
        }
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }

    static void append_utf8(std::string& text, std::uint32_t code) {
        const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xc0 | code >> 6);
            put(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            put(0xe0 | code >> 12);
            put(0x80 | (code >> 6 & 0x3f));
            put(0x80 | (code & 0x3f));
        } else {
            put(0xf0 | code >> 18);
            put(0x80 | (code >> 12 & 0x3f));
            put(0x80 | (code >> 6 & 0x3f));
            put(0x80 | (code & 0x3f));
        }
    }

    std::string read_string() {
        expect('"');
        std::string value;
        while (!take('"')) {
            if (done()) {
                fail("the string does not end");
            }
            if (take('\\')) {
                read_escape(value);
                continue;
            }
            std::uint32_t code = 0;
            const std::size_t length = utf8_length(text_.substr(at_), code);
            if (length == 0 || code < 0x20) {
                fail(length == 0 ? "not UTF-8" : "a control character inside a string");
            }
            value.append(text_, at_, length);
            at_ += length;
        }
        return value;
    }

    void read_escape(std::string& value) {
        constexpr std::string_view kNames = "\"\\/bfnrt";
        constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
        const char name = peek();
        if (done()) {
            fail("the string does not end");
        }
        ++at_;
        if (name == 'u') {
            append_utf8(value, read_unicode_escape());
        } else if (const std::size_t index = kNames.find(name); index != std::string_view::npos) {
            value += kValues[index];
        } else {
            fail("unknown escape");
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Throws JsonError.
inline Json read_json(std::string_view text) {
    return JsonReader(text).read();
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_JSON_H
