#include "review/static_warning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "cuda_source/source_lexer.h"

namespace kw::review {
namespace {

constexpr double kFactor = 0.6, kLeast = 0.1;

// Operators with a "=" or "-" that is not an assignment or a minus. The lexer gives single
// characters.
constexpr std::array<std::string_view, 14> kJoined = {
    "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "--", "->"};

const std::set<std::string> kExponentials = {"exp",  "expf",  "__expf", "exp2f",
                                             "hexp", "hexp2", "exp2",   "fast_exp"};

struct CodeToken {
  std::string text;
  int line = 0;
};

/// The tokens without directives.
std::vector<CodeToken> code_tokens(std::string_view source) {
  const cuda_source::SourceText text = cuda_source::lex_source(source);
  std::vector<bool> skipped(text.tokens.size(), false);
  for (const cuda_source::Directive& one : text.directives) {
    for (size_t i = one.first; i < one.first + one.count && i < skipped.size(); ++i)
      skipped[i] = true;
  }
  std::vector<CodeToken> out;
  for (size_t i = 0; i < text.tokens.size(); ++i) {
    if (skipped[i]) continue;
    const cuda_source::SourceToken& token = text.tokens[i];
    const bool joined = token.kind == cuda_source::SourceKind::Punctuator &&
                        std::ranges::count(kJoined, source.substr(token.begin, 2)) > 0;
    out.push_back({joined ? std::string(source.substr(token.begin, 2)) : token.text, token.line});
    i += joined ? 1 : 0;
  }
  return out;
}

size_t closing_bracket(const std::vector<CodeToken>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
    depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
    if (depth == 0) return i;
  }
  return tokens.size();
}

/// Finds values that are rounded to half while they are accumulated.
void look_at_rounding(const std::vector<CodeToken>& tokens, std::vector<StaticWarning>& out) {
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (tokens[i].text == "__half2float" && tokens[i + 2].text == "__float2half")
      out.push_back({tokens[i].line, "rounded to half and back"});
    const bool sum = tokens[i].text == "__half" && tokens[i + 2].text == "=" && i > 0 &&
                     tokens[i - 1].text != "const";
    for (size_t k = i; sum && k + 1 < tokens.size() && tokens[k].text != "__global__"; ++k) {
      if (tokens[k].text != tokens[i + 1].text || tokens[k + 1].text != "+=") continue;
      out.push_back({tokens[k].line, "a sum is kept in half precision"});
      break;
    }
  }
}

/// Whether the statement [begin, end) adds, or the name is added to something later.
bool is_summed(const std::vector<CodeToken>& tokens, size_t begin, size_t end,
               const std::string& name) {
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].text == "+=") return true;
  }
  for (size_t i = end; !name.empty() && i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "__global__") return false;
    if (tokens[i].text == "+=" && tokens[i + 1].text == name) return true;
  }
  return false;
}

/// Finds sums of exponentials whose argument has no subtraction: they overflow for large values.
void look_at_exponentials(const std::vector<CodeToken>& tokens, std::vector<StaticWarning>& out) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!kExponentials.contains(tokens[i].text) || tokens[i + 1].text != "(") continue;
    const size_t close = closing_bracket(tokens, i + 1);
    if (close >= tokens.size()) return;
    bool lowered = false;
    for (size_t k = i + 2; k < close; ++k) lowered = lowered || tokens[k].text == "-";
    size_t begin = i, end = close;
    const auto stops = [&](size_t k) {
      return tokens[k].text == ";" || tokens[k].text == "{" || tokens[k].text == "}";
    };
    while (begin > 0 && !stops(begin - 1)) --begin;
    while (end < tokens.size() && !stops(end)) ++end;
    std::string name;
    for (size_t k = begin; k + 1 < i; ++k) {
      if (tokens[k + 1].text == "=") name = tokens[k].text;
    }
    if (tokens[begin].text != "return" && !lowered && is_summed(tokens, begin, end, name))
      out.push_back({tokens[i].line, "a sum of exponentials without subtracting the maximum"});
  }
}

}  // namespace

std::vector<StaticWarning> static_warnings(const std::string& module_text) {
  const std::vector<CodeToken> tokens = code_tokens(module_text);
  std::vector<StaticWarning> all;
  look_at_rounding(tokens, all);
  look_at_exponentials(tokens, all);
  return all;
}

double static_warning_score(const std::vector<StaticWarning>& all) {
  return std::max(kLeast, std::pow(kFactor, static_cast<double>(all.size())));
}

}  // namespace kw::review
