#include "kernel_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace aivops::ccec {
namespace {

struct Token {
    std::string_view text; // a string literal is '"' only, with its content in `content`
    std::string_view content;
    unsigned file = 0; // index into the lexer's files
    unsigned line = 0;
    bool identifier = false;
};

bool starts_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}

bool continues_identifier(char c) {
    return starts_identifier(c) || (c >= '0' && c <= '9');
}

// Splits preprocessed C++ into tokens and follows its line markers.
class Lexer {
  public:
    explicit Lexer(std::string_view text) : rest_(text) {}

    // False at the end of the text.
    bool next(Token& token) {
        if (!skip_blank())
            return false;
        token = Token{};
        token.file = static_cast<unsigned>(files_.size() - 1);
        token.line = line_;
        char c = rest_[0];
        if (starts_identifier(c)) {
            std::size_t size = 1;
            while (size < rest_.size() && continues_identifier(rest_[size]))
                ++size;
            token.text = take(size);
            token.identifier = true;
            if (is_literal_prefix(token.text) && !rest_.empty() && (rest_[0] == '"' || rest_[0] == '\''))
                take_literal(token, token.text.back() == 'R' && rest_[0] == '"');
        } else if (c == '"' || c == '\'') {
            take_literal(token, false);
        } else if (c >= '0' && c <= '9') {
            std::size_t size = 1; // a preprocessing number; digit separators and exponents do not matter here
            while (size < rest_.size() &&
                   (continues_identifier(rest_[size]) || rest_[size] == '.' ||
                    (rest_[size] == '\'' && size + 1 < rest_.size() && continues_identifier(rest_[size + 1]))))
                ++size;
            token.text = take(size);
        } else {
            bool scope = rest_.substr(0, 2) == "::";
            token.text = take(scope ? 2 : 1);
        }
        return true;
    }

    const std::string& file_of(const Token& token) const { return files_[token.file]; }

  private:
    static bool is_literal_prefix(std::string_view text) {
        constexpr std::array<std::string_view, 9> kPrefixes{"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};
        return std::find(kPrefixes.begin(), kPrefixes.end(), text) != kPrefixes.end();
    }

    std::string_view take(std::size_t size) {
        std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        line_start_ = false;
        return taken;
    }

    bool skip_blank() {
        while (!rest_.empty()) {
            char c = rest_[0];
            if (c == '\n') {
                ++line_;
                rest_.remove_prefix(1);
                line_start_ = true;
            } else if (c == '#' && line_start_) {
                take_marker();
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                rest_.remove_prefix(1);
            } else {
                return true;
            }
        }
        return false;
    }

    // "# 12 "file" flags" says where the next line comes from; other directives (#pragma) are skipped.
    void take_marker() {
        std::size_t end = std::min(rest_.find('\n'), rest_.size());
        std::string_view marker = rest_.substr(0, end);
        rest_.remove_prefix(end);
        std::size_t digits = marker.find_first_not_of("# ");
        unsigned number = 0;
        if (marker.starts_with("#line"))
            digits = marker.find_first_not_of(' ', 5);
        if (digits == std::string_view::npos ||
            std::from_chars(marker.data() + digits, marker.data() + marker.size(), number).ec != std::errc())
            return;
        std::size_t open = marker.find('"');
        std::size_t close = marker.rfind('"');
        if (open != std::string_view::npos && close > open) {
            std::string name;
            for (std::size_t i = open + 1; i < close; ++i) {
                if (marker[i] == '\\')
                    ++i;
                name += marker[i];
            }
            if (name != files_.back())
                files_.push_back(std::move(name));
        }
        line_ = number - 1; // the newline that ends the marker counts one
    }

    void take_literal(Token& token, bool raw) {
        char quote = rest_[0];
        std::size_t end = 1;
        if (raw) {
            std::size_t open = rest_.find('(');
            std::string closing = ")" + std::string(rest_.substr(1, open - 1)) + "\"";
            end = std::min(rest_.find(closing, open), rest_.size());
            end = std::min(end + closing.size(), rest_.size());
        } else {
            while (end < rest_.size() && rest_[end] != quote && rest_[end] != '\n')
                end += rest_[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, rest_.size());
        }
        std::string_view literal = take(end);
        line_ += static_cast<unsigned>(std::count(literal.begin(), literal.end(), '\n'));
        token.text = quote == '"' ? "\"" : "'";
        token.content = literal.size() >= 2 ? literal.substr(1, literal.size() - 2) : std::string_view{};
        token.identifier = false;
    }

    std::string_view rest_;
    std::vector<std::string> files_{""};
    unsigned line_ = 1;
    bool line_start_ = true;
};

bool is_keyword_of_types(std::string_view text) {
    constexpr std::array<std::string_view, 13> kWords{"void",  "bool",     "char",   "short",  "int",
                                                      "long",  "float",    "double", "signed", "unsigned",
                                                      "const", "volatile", "auto"};
    return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

// The name of one parameter, or nothing. `tokens` are those between two commas.
std::string parameter_name(const std::vector<Token>& tokens) {
    std::size_t end = tokens.size();
    std::size_t depth = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) { // a default value or an array bound ends the declarator
        std::string_view text = tokens[i].text;
        if (text == "(" || text == "<" || text == "{")
            ++depth;
        else if ((text == ")" || text == ">" || text == "}") && depth > 0)
            --depth;
        else if (depth == 0 && i > 0 && (text == "=" || (text == "[" && tokens[i - 1].identifier))) {
            end = i;
            break;
        }
    }
    for (std::size_t i = 0; i + 2 < end; ++i) { // "(*name)": a pointer to a function or an array
        if (tokens[i].text == "(" && tokens[i + 1].text == "*" && tokens[i + 2].identifier)
            return std::string(tokens[i + 2].text);
    }
    if (end < 2 || !tokens[end - 1].identifier || is_keyword_of_types(tokens[end - 1].text))
        return {};
    std::string_view before = tokens[end - 2].text;
    if (before == "::" || before == "struct" || before == "class" || before == "enum" || before == "union" ||
        before == "typename")
        return {};
    if (end == 2 && (before == "const" || before == "volatile"))
        return {};
    return std::string(tokens[end - 1].text);
}

// Recognises [aicore], token by token.
class AicoreAttribute {
  public:
    // True at the bracket that closes one; `opened()` is the one that opened it.
    bool ends_with(const Token& token) {
        if (state_ == 1 && token.text == "aicore")
            state_ = 2;
        else if (state_ == 2 && token.text == "]")
            return state_ = 0, true;
        else
            state_ = token.text == "[" ? 1 : 0;
        if (state_ == 1)
            opened_ = token.text.data();
        return false;
    }
    const char* opened() const { return opened_; }

  private:
    int state_ = 0; // how many of its tokens came last
    const char* opened_ = nullptr;
};

class Scanner {
  public:
    explicit Scanner(std::string_view text) : lexer_(text) {}

    Scan scan() {
        Token token;
        while (lexer_.next(token)) {
            if (token.text == "block_local")
                scan_.block_locals = true;
            scan_.aicore_attributes |= aicore_.ends_with(token);
            if (code_depth_ > 0) { // inside a class or a function: nothing to find
                code_depth_ += token.text == "{" ? 1 : 0;
                code_depth_ -= token.text == "}" ? 1 : 0;
                if (code_depth_ == 0)
                    statement_.clear();
                continue;
            }
            if (token.text == "{" && parentheses_ == 0)
                open_brace();
            else if (token.text == "}" && parentheses_ == 0)
                close_brace();
            else if (token.text == ";" && parentheses_ == 0)
                statement_.clear();
            else
                extend(token);
        }
        scan_.balanced &= code_depth_ == 0 && scopes_.empty();
        return std::move(scan_);
    }

  private:
    struct Scope {
        std::string name; // of a namespace; empty for extern "C" and anonymous ones
        bool c_linkage;
    };

    void extend(const Token& token) {
        parentheses_ += token.text == "(" ? 1 : 0;
        parentheses_ -= token.text == ")" ? 1 : 0;
        parentheses_ = std::max(parentheses_, 0);
        statement_.push_back(token);
    }

    bool c_linkage() const { return !scopes_.empty() && scopes_.back().c_linkage; }

    void open_brace() {
        Scope scope{"", c_linkage()};
        if (is_namespace(scope) || is_linkage_block(scope)) {
            scopes_.push_back(std::move(scope));
        } else {
            take_definition();
            code_depth_ = 1;
        }
        statement_.clear();
    }

    void close_brace() {
        if (scopes_.empty())
            scan_.balanced = false;
        else
            scopes_.pop_back();
        statement_.clear();
    }

    bool is_namespace(Scope& scope) const {
        auto word = std::find_if(statement_.begin(), statement_.end(), [](const Token& t) { return t.identifier; });
        if (word != statement_.end() && word->text == "inline")
            ++word;
        if (word == statement_.end() || word->text != "namespace")
            return false;
        for (++word; word != statement_.end() && (word->identifier || word->text == "::"); ++word) {
            if (word->text.starts_with("__attribute"))
                break;
            scope.name += word->text;
        }
        return true;
    }

    bool is_linkage_block(Scope& scope) const {
        if (statement_.size() != 2 || statement_[0].text != "extern" || statement_[1].text != "\"")
            return false;
        scope.c_linkage = statement_[1].content == "C";
        return true;
    }

    // `statement_` is what stands before the brace of a function's body (or a class's).
    void take_definition() {
        bool marked = false;
        bool linkage = c_linkage();
        std::size_t name = 0;
        for (std::size_t i = 0; i < statement_.size(); ++i) {
            std::string_view text = statement_[i].text;
            if (text == "template")
                return;
            if (text == "extern" && i + 1 < statement_.size() && statement_[i + 1].text == "\"")
                linkage = statement_[i + 1].content == "C";
            marked |= text == "__global__";
            if (text == "[") { // an attribute
                i = closing(i);
                continue;
            }
            if (text != "(" || i == 0)
                continue;
            const Token& before = statement_[i - 1];
            if (marked && before.identifier && !before.text.starts_with("__attribute") && before.text != "alignas" &&
                before.text != "decltype" && before.text != "__launch_bounds__") {
                name = i - 1;
                break;
            }
            i = closing(i);
        }
        if (!marked || !linkage || name == 0)
            return;
        const Token& token = statement_[name];
        if (!seen_.insert(std::string(token.text)).second)
            return;
        ScannedKernel kernel;
        for (const Scope& scope : scopes_) {
            if (!scope.name.empty())
                kernel.qualified_name += "::" + scope.name;
        }
        kernel.symbol = token.text;
        kernel.qualified_name += "::" + kernel.symbol;
        kernel.file = lexer_.file_of(token);
        kernel.line = token.line;
        // A source's own definition of the qualifier is the attribute [aicore].
        kernel.aicore = std::any_of(statement_.begin(), statement_.begin() + static_cast<std::ptrdiff_t>(name),
                                    [](const Token& t) { return t.text == "__aicore__" || t.text == "aicore"; });
        take_parameters(kernel, name + 1);
        scan_.kernels.push_back(std::move(kernel));
    }

    // Index of the parenthesis or bracket that closes the one at `open`, or of the last token.
    std::size_t closing(std::size_t open) const {
        std::string_view opening = statement_[open].text;
        std::string_view ending = opening == "(" ? ")" : "]";
        int depth = 0;
        for (std::size_t i = open; i < statement_.size(); ++i) {
            depth += statement_[i].text == opening ? 1 : 0;
            depth -= statement_[i].text == ending ? 1 : 0;
            if (depth == 0)
                return i;
        }
        return statement_.size() - 1;
    }

    void take_parameters(ScannedKernel& kernel, std::size_t open) const {
        std::size_t close = closing(open);
        std::vector<Token> parameter;
        int depth = 0;
        for (std::size_t i = open + 1; i <= close; ++i) {
            std::string_view text = statement_[i].text;
            if (i == close || (text == "," && depth == 0)) {
                bool none = i == close && kernel.parameter_names.empty() &&
                            (parameter.empty() || (parameter.size() == 1 && parameter[0].text == "void"));
                if (!none)
                    kernel.parameter_names.push_back(parameter_name(parameter));
                parameter.clear();
                continue;
            }
            depth += text == "(" || text == "<" || text == "{" || text == "[" ? 1 : 0;
            depth -= text == ")" || text == ">" || text == "}" || text == "]" ? 1 : 0;
            parameter.push_back(statement_[i]);
        }
    }

    Lexer lexer_;
    AicoreAttribute aicore_;
    Scan scan_;
    std::vector<Token> statement_; // since the last ';' or brace at namespace scope
    std::vector<Scope> scopes_;
    std::set<std::string> seen_;
    int parentheses_ = 0;
    unsigned code_depth_ = 0;
};

} // namespace

Scan scan_kernels(std::string_view text) {
    Scan scan = Scanner(text).scan();
    auto defines = [&](const char* macro) { return text.find(std::string("\n#define ") + macro) != text.npos; };
    scan.by_gcc = defines("__GNUC__ ") && !defines("__clang__ ");
    return scan;
}

std::string without_aicore_attributes(std::string text) {
    Lexer lexer(text);
    AicoreAttribute attribute;
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (Token token; lexer.next(token);) {
        if (attribute.ends_with(token))
            found.emplace_back(attribute.opened() - text.data(), token.text.data() - text.data());
    }
    for (const auto& [first, last] : found) {
        for (std::size_t at = first; at <= last; ++at)
            text[at] = text[at] == '\n' ? '\n' : ' ';
    }
    return text;
}

} // namespace aivops::ccec
