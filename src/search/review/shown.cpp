// Kernels come from models, and a comment or a string may tell the reviewer to approve them. So a
// reviewer sees only what the compiler needs. The lexer finds comments, literals, directives and
// dead code, and these are replaced by blanks, so that line numbers stay the same. A long name can
// be a sentence too, so names of more than six words are replaced. Telling reviewers to ignore
// comments would keep useful ones, but depends on their obedience. The cost: reviewers lose honest
// comments and clear long names. A text that still gets through can do little: reviewers rank and
// reject, but never accept.
#include "review/shown.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "cuda_source/source_lexer.h"
#include "stages/answer_source.h"

namespace kw::review {
namespace {

using cuda_source::Directive;
using cuda_source::SourceKind;
using cuda_source::SourceText;
using cuda_source::SourceToken;

// A longer name is probably a sentence.
constexpr size_t kMostWords = 6, kMostNameBytes = 48;
constexpr size_t kMostCharacterBytes = 6;  // of 'x' and '\x1f'

void blank(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < end && i < text.size(); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

/// Removes comments from the text of one asm statement, also if it consists of several literals.
class AsmText {
 public:
  void next(std::string& text, size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < text.size(); ++i) step(text, i);
  }
  void finish() { *this = AsmText(); }

 private:
  enum class In : uint8_t { Code, Line, Block };
  void step(std::string& text, size_t i) {
    const char c = text[i];
    if (c == '"') return;
    const bool newline = (escaped_ && c == 'n') || c == '\n';
    if (in_ == In::Line && newline) {
      in_ = In::Code;
      if (c != '\n') text[i - 1] = '\\';
    } else if (in_ == In::Block && last_ == '*' && c == '/') {
      in_ = In::Code;
      text[i] = ' ';
    } else if (in_ != In::Code) {
      if (c != '\n') text[i] = ' ';
    } else if (last_ == '/' && (c == '/' || c == '*')) {
      in_ = c == '/' ? In::Line : In::Block;
      text[i] = text[slash_] = ' ';
      last_ = 0;
      return;
    }
    if (c == '/') slash_ = i;
    escaped_ = c == '\\' && !escaped_;
    last_ = c;
  }
  In in_ = In::Code;
  bool escaped_ = false;
  char last_ = 0;
  size_t slash_ = 0;
};

bool starts_asm(const SourceToken& token) {
  return token.text == "asm" || token.text == "__asm__" || token.text == "__asm";
}

/// The index after the parenthesis that closes the first one at or after `from`.
size_t behind_parentheses(const std::vector<SourceToken>& tokens, size_t from) {
  size_t depth = 0;
  for (size_t i = from; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && (depth == 0 || --depth == 0)) return i + 1;
    if (tokens[i].text == ";" && depth == 0) return i;
  }
  return tokens.size();
}

void clean_assembly(const std::vector<SourceToken>& tokens, size_t begin, size_t end,
                    std::string& text) {
  AsmText comments;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == SourceKind::String) {
      comments.next(text, tokens[i].begin, tokens[i].end);
    } else {
      comments.finish();
    }
  }
}

/// Removes the text of a literal and keeps its quotes.
void blank_literal(const SourceToken& token, std::string& text) {
  const char quote = token.kind == SourceKind::String ? '"' : '\'';
  const size_t open = text.find(quote, token.begin);
  const size_t close = text.rfind(quote, token.end - 1);
  if (open == std::string::npos || open >= token.end) return;
  if (text.substr(token.begin, open - token.begin).find('R') != std::string::npos) {
    // A raw literal becomes an empty ordinary literal.
    blank(text, token.begin, token.end);
    text[token.begin] = text[token.begin + 1] = '"';
    return;
  }
  blank(text, open + 1, close > open ? close : token.end);
}

std::set<size_t> include_tokens(const SourceText& source) {
  std::set<size_t> kept;
  for (const Directive& one : source.directives) {
    if (one.name != "include") continue;
    for (size_t i = 0; i < one.count; ++i) kept.insert(one.first + i);
  }
  return kept;
}

void blank_literals(const SourceText& source, std::string& text) {
  const std::set<size_t> kept = include_tokens(source);
  const std::vector<SourceToken>& tokens = source.tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (starts_asm(tokens[i])) {
      const size_t end = behind_parentheses(tokens, i + 1);
      clean_assembly(tokens, i + 1, end, text);
      i = std::max(i, end - 1);
    } else if (tokens[i].kind == SourceKind::String && !kept.contains(i)) {
      blank_literal(tokens[i], text);
    } else if (tokens[i].kind == SourceKind::Character &&
               tokens[i].text.size() > kMostCharacterBytes) {
      blank_literal(tokens[i], text);
    }
  }
}

bool known_pragma(const std::string& word) {
  return word == "unroll" || word == "nounroll" || word == "once" || word == "pack" ||
         word == "STDC" || word.starts_with("nv_") || word.starts_with("diag");
}

size_t directive_begin(const SourceText& source, const Directive& one) {
  return source.tokens[one.first].begin;
}

const std::string& word_of(const SourceText& source, const Directive& one, size_t at) {
  static const std::string kNone;
  return at < one.count ? source.tokens[one.first + at].text : kNone;
}

/// Names that a #define of the module defines.
std::set<std::string> defined_names(const SourceText& source) {
  std::set<std::string> names;
  for (const Directive& one : source.directives) {
    if (one.name == "define") names.insert(word_of(source, one, 2));
  }
  return names;
}

/// Whether a plan line uses the name: tunables are macros.
bool plan_names(const std::string& text, const std::string& name) {
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).starts_with("//!") && line.find(name) != std::string_view::npos) return true;
  }
  return false;
}

/// Whether the code after an #if can never be compiled.
bool never_true(const SourceText& source, const Directive& one, const std::string& text,
                const std::set<std::string>& defined) {
  if (one.name == "if" && one.count == 3) {
    const std::string& word = word_of(source, one, 2);
    return word == "0" || word == "false";
  }
  if (one.name != "ifdef") return false;
  const std::string& name = word_of(source, one, 2);
  return !name.starts_with("_") && !defined.contains(name) && !plan_names(text, name);
}

/// Removes the code between a condition that is never true and the next directive of its level.
void blank_dead_code(const SourceText& source, std::string& text) {
  const std::set<std::string> defined = defined_names(source);
  size_t depth = 0, dead_depth = 0, dead_from = 0;
  for (const Directive& one : source.directives) {
    const bool opens = one.name == "if" || one.name == "ifdef" || one.name == "ifndef";
    const bool same = one.name == "else" || one.name == "elif" || one.name == "endif";
    if (opens) ++depth;
    if (dead_depth != 0 && same && depth == dead_depth) {
      blank(text, dead_from, directive_begin(source, one));
      dead_depth = 0;
    }
    if (dead_depth == 0 && opens && never_true(source, one, text, defined)) {
      dead_depth = depth;
      dead_from = one.end;
    }
    if (one.name == "endif" && depth > 0) --depth;
  }
  if (dead_depth != 0) blank(text, dead_from, text.size());
}

void blank_directives(const SourceText& source, std::string& text) {
  std::map<std::string, int> uses;
  for (const SourceToken& token : source.tokens) ++uses[token.text];
  for (const Directive& one : source.directives) {
    if (one.count == 0) continue;
    const bool talk = one.name == "error" || one.name == "warning" || one.name == "ident" ||
                      one.name == "sccs" ||
                      (one.name == "pragma" && !known_pragma(word_of(source, one, 2)));
    const std::string& name = word_of(source, one, 2);
    const bool unused = one.name == "define" && uses[name] == 1 && !plan_names(text, name);
    if (talk || unused) blank(text, directive_begin(source, one), one.end);
  }
}

size_t words_in(const std::string& name) {
  size_t words = 0;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(name[i]);
    const bool hump =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (c == '_') {
      inside = false;
    } else {
      if (!inside || hump) ++words;
      inside = true;
    }
  }
  return words;
}

bool is_sentence(const std::string& name) {
  return words_in(name) > kMostWords || name.size() > kMostNameBytes;
}

/// Works on characters, because plan lines also contain names.
std::string without_sentences(const std::string& text) {
  std::map<std::string, std::string> names;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto part = [&](size_t i) {
      const unsigned char c = static_cast<unsigned char>(text[i]);
      return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
    };
    if (!part(at)) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && part(end)) ++end;
    const std::string name = text.substr(at, end - at);
    at = end;
    const bool number = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
    if (number || !is_sentence(name)) {
      out += name;
    } else {
      out += names.emplace(name, fmt::format("name_{}", names.size() + 1)).first->second;
    }
  }
  return out;
}

std::string without_method_lines(const std::string& text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view bare = trim(line);
    const bool method = bare.starts_with("//!") && trim(bare.substr(3)).starts_with("method");
    if (!method) out += line;
    out += '\n';
  }
  return out;
}

}  // namespace

std::string shown_module(const std::string& module) {
  std::string text = stages::without_comments(module);
  blank_dead_code(cuda_source::lex_source(text), text);
  blank_directives(cuda_source::lex_source(text), text);
  blank_literals(cuda_source::lex_source(text), text);
  text = without_method_lines(without_sentences(text));
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    out.append(line.substr(0, line.find_last_not_of(" \t") + 1)).append("\n");
  }
  return out;
}

std::string numbered(const std::string& text) {
  std::string out;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    // Reasons do not refer to empty lines, so they are left out to save tokens.
    if (!line.empty()) out += fmt::format("{:4} {}\n", number, line);
  }
  return out;
}

}  // namespace kw::review
