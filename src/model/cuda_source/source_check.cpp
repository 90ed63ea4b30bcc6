// The text of a module is untrusted, and the compiler itself can be misused: an #include of any
// file prints its first line in an error. Device code could also bypass the launch plan: with host
// code, hidden state in inline assembly, or clocks. So the text is checked before any compiler sees
// it. Headers and pragmas are checked against lists of allowed names, code against lists of refused
// words. We lex the text ourselves, because running a preprocessor would already open files. The
// cost: code hidden in macros is not seen here; the PTX check finds it later.
#include "cuda_source/source_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/text.h"
#include "cuda_source/source_lexer.h"
#include "cuda_source/source_rules.h"

namespace kw::cuda_source {

namespace {

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text), source_(lex_source(text)) {}

  std::vector<Diagnostic> run() {
    check_line_ends();
    for (const Directive& directive : source_.directives) check_directive(directive);
    for (size_t i = 0; i < source_.tokens.size(); ++i) check_token(i);
    check_pastes();
    std::ranges::stable_sort(out_, [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return std::move(out_);
  }

 private:
  void report(const SourceToken& token, std::string message, std::string hint) {
    out_.push_back({token.line, token.column, static_cast<int>(token.end - token.begin),
                    std::move(message), std::move(hint)});
  }

  // Compilers disagree about these line ends. One compiler could see a comment where another sees a
  // directive.
  void check_line_ends() {
    int line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      const int column = static_cast<int>(i - line_start) + 1;
      if (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n')) {
        out_.push_back({line, column, 1, "a carriage return without a line feed",
                        "end lines with a line feed (or carriage return and line feed)"});
      }
      if (text_[i] == '\\') {
        const size_t next = text_.find_first_not_of(" \t\r\v\f", i + 1);
        if (next != std::string_view::npos && text_[next] == '\n' && next != i + 1) {
          out_.push_back(
              {line, column, 1, "a backslash is followed by blanks at the end of the line",
               "to continue a line, put the backslash directly before a plain line feed"});
        }
      }
      if (text_[i] == '\n') {
        ++line;
        line_start = i + 1;
      }
    }
  }

  void check_directive(const Directive& directive) {
    const SourceToken& hash = source_.tokens[directive.first];
    if (directive.name == "include") return check_include(directive);
    if (directive.name == "pragma") return check_pragma(directive);
    if (directive.name.empty()) {
      if (directive.count > 1) {
        report(hash, "a line marker is not allowed", "kernelwright writes the line table");
      }
      return;
    }
    const std::string_view why = refused_directive(directive.name);
    if (!why.empty()) {
      report(source_.tokens[directive.first + 1], "'#" + directive.name + "' is not allowed",
             std::string(why));
    }
  }

  void check_include(const Directive& directive) {
    const SourceToken& word = source_.tokens[directive.first + 1];
    if (directive.count < 3) return report(word, "'#include' names no header", "");
    const SourceToken& operand = source_.tokens[directive.first + 2];
    if (operand.kind == SourceKind::String) {
      return report(operand, "a module may not include " + operand.text + " in quotes",
                    "a module is one file; write its helpers into it, or use a <…> header");
    }
    if (operand.text != "<") {
      return report(operand, "'#include' must name a header literally",
                    "write '#include <header>'; macros are not expanded here");
    }
    const size_t line_end = std::min(text_.find('\n', operand.begin), text_.size());
    const std::string_view rest = text_.substr(operand.begin, line_end - operand.begin);
    const size_t close = rest.find('>');
    if (close == std::string_view::npos) {
      return report(operand, "'#include <' has no closing '>' on its line", "");
    }
    const std::string_view header = rest.substr(1, close - 1);
    SourceToken place = operand;
    place.end = operand.begin + close + 1;
    if (header_allowed(header)) return;
    if (header.starts_with("/") || header.find("..") != std::string_view::npos ||
        header.find('\\') != std::string_view::npos) {
      return report(place, "'<" + std::string(header) + ">' is a path, not a header",
                    "only headers from the allowed list can be included");
    }
    const std::string near = closest(header, allowed_headers());
    report(place, "header <" + std::string(header) + "> is not on the allowed list",
           near.empty()
               ? "allowed are the CUDA device headers, cub/, cuda/, cooperative_groups/ and "
                 "a few C++ headers; see docs/kernel-module.md"
               : "did you mean <" + near + ">?");
  }

  void check_pragma(const Directive& directive) {
    if (directive.count < 3) return;
    const SourceToken& first = source_.tokens[directive.first + 2];
    const std::string second = directive.count > 3 ? source_.tokens[directive.first + 3].text : "";
    check_pragma_name(first, pragma_name(first.text, second));
  }

  // The pragmas of GCC and clang are distinguished by their second word.
  static std::string pragma_name(const std::string& first, const std::string& second) {
    return first == "GCC" || first == "clang" ? first + " " + second : first;
  }

  void check_pragma_name(const SourceToken& place, const std::string& name) {
    if (pragma_allowed(name)) return;
    report(place, "pragma '" + name + "' is not allowed",
           name == "nv_hdrstop" ? "kernelwright puts it behind the last include"
                                : "allowed: " + join(allowed_pragmas(), ", "));
  }

  const SourceToken* next(size_t at, size_t ahead = 1) const {
    return at + ahead < source_.tokens.size() ? &source_.tokens[at + ahead] : nullptr;
  }
  const SourceToken* previous(size_t at) const {
    return at > 0 ? &source_.tokens[at - 1] : nullptr;
  }
  bool next_is(size_t at, std::string_view text, size_t ahead = 1) const {
    const SourceToken* token = next(at, ahead);
    return token != nullptr && token->text == text;
  }

  // The compiler pastes after this check, and then '__DATE__' is today's date.
  void check_pastes() {
    std::set<std::string_view> words;
    for (const SourceToken& token : source_.tokens) {
      if (token.kind == SourceKind::Identifier) words.insert(token.text);
    }
    const std::string_view pasted = pasted_identifier(words);
    if (pasted.empty()) return;
    report(source_.tokens.front(),
           fmt::format("macros could paste '{}' together from parts in this module", pasted),
           std::string(refused_identifier(pasted)));
  }

  void check_token(size_t at) {
    const SourceToken& token = source_.tokens[at];
    if (token.kind == SourceKind::Punctuator) check_launch(at);
    if (token.kind == SourceKind::Identifier) check_identifier(at);
  }

  void check_launch(size_t at) {
    const SourceToken& token = source_.tokens[at];
    if (token.text != "<" || !next_is(at, "<") || !next_is(at, "<", 2)) return;
    if (next(at, 2)->end != token.begin + 3) return;
    if (at > 0 && source_.tokens[at - 1].text == "<" && source_.tokens[at - 1].end == token.begin)
      return;
    SourceToken place = token;
    place.end = token.begin + 3;
    report(place, "a module does not launch kernels itself",
           "write '//! launch kernel grid(…) block(…) args(…)' instead");
  }

  void check_identifier(size_t at) {
    const SourceToken& token = source_.tokens[at];
    const std::string_view why = refused_identifier(token.text);
    if (!why.empty())
      report(token, "'" + token.text + "' is not allowed in a module", std::string(why));
    if (token.text == "_Pragma") return check_pragma_operator(at);
    if (token.text == "extern" && next(at) != nullptr && next(at)->text == "\"C\"") {
      report(token, "'extern \"C\"' is not allowed",
             "kernels have C++ linkage: their parameter types are read from their names");
    }
    if (token.text == "__host__") check_host(at);
    if (token.text == "main" && next_is(at, "(") && previous(at) != nullptr &&
        previous(at)->text == "int") {
      report(token, "a module has no main()",
             "it holds device code only; kernelwright is the host");
    }
    if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm") check_assembly(at);
  }

  void check_host(size_t at) {
    const bool with_device =
        (at > 0 && source_.tokens[at - 1].text == "__device__") || next_is(at, "__device__");
    if (!with_device) {
      report(
          source_.tokens[at], "a module has no host functions",
          "use '__device__' or '__host__ __device__'; launches are written as '//! launch' lines");
    }
  }

  void check_pragma_operator(size_t at) {
    const SourceToken* text = next(at, 2);
    if (!next_is(at, "(") || text == nullptr || text->kind != SourceKind::String) {
      return report(source_.tokens[at], "'_Pragma' needs a literal string here", "");
    }
    const SourceText body = lex_source(string_body(text->text));
    const auto word = [&](size_t i) { return i < body.tokens.size() ? body.tokens[i].text : ""; };
    check_pragma_name(*text, pragma_name(word(0), word(1)));
  }

  // The template of an asm statement is a sequence of adjacent string literals.
  void check_assembly(size_t at) {
    size_t i = at + 1;
    while (i < source_.tokens.size() && source_.tokens[i].kind == SourceKind::Identifier) ++i;
    if (i >= source_.tokens.size() || source_.tokens[i].text != "(") return;
    std::string assembly;
    for (++i; i < source_.tokens.size() && source_.tokens[i].kind == SourceKind::String; ++i) {
      assembly += string_body(source_.tokens[i].text);
    }
    const AssemblyFault fault = find_assembly_fault(assembly);
    if (fault.what.empty()) return;
    report(source_.tokens[at], "inline assembly " + fault.what, fault.hint);
  }

  std::string_view text_;
  SourceText source_;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> check_source(std::string_view text) { return Checker(text).run(); }

}  // namespace kw::cuda_source
