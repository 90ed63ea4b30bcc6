#include <array>
#include <charconv>

#include "review/walk.h"

namespace kw::review {
namespace {

using cuda_source::SourceKind;

// Longest first.
constexpr std::array<std::string_view, 21> kJoined = {"<<=", ">>=", "<=", ">=", "==", "!=", "&&",
                                                      "||",  "+=",  "-=", "*=", "/=", "%=", "&=",
                                                      "|=",  "^=",  "<<", ">>", "++", "--", "->"};

const std::set<std::string> kComparisons = {"<", "<=", ">", ">=", "==", "!="};

std::string negated(const std::string& sign) {
  if (sign == "<") return ">=";
  if (sign == "<=") return ">";
  if (sign == ">") return "<=";
  if (sign == ">=") return "<";
  return sign == "==" ? "!=" : "==";
}

std::string mirrored(const std::string& sign) {
  if (sign == "<") return ">";
  if (sign == "<=") return ">=";
  if (sign == ">") return "<";
  return sign == ">=" ? "<=" : sign;
}

Interval number(std::string text) {
  std::erase(text, '\'');
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos)
    text.pop_back();
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  return error == std::errc() && stop == end ? Interval::exactly(value) : Interval{};
}

constexpr size_t kMostTokens = 300;  // of an expression; bounds depth and time

bool opens(const std::string& text) { return text == "(" || text == "[" || text == "{"; }
bool closes(const std::string& text) { return text == ")" || text == "]" || text == "}"; }

// Looked for anew for every bracket, partners would cost the square of a text's depth.
void pair_brackets(std::vector<WalkToken>& tokens) {
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (opens(tokens[i].text)) {
      tokens[i].partner = tokens.size();
      open.push_back(i);
    } else if (closes(tokens[i].text) && !open.empty()) {
      tokens[open.back()].partner = i;
      open.pop_back();
    }
  }
}

}  // namespace

std::vector<WalkToken> walk_tokens(std::string_view source) {
  const cuda_source::SourceText text = cuda_source::lex_source(source);
  std::vector<bool> skipped(text.tokens.size(), false);
  for (const cuda_source::Directive& one : text.directives) {
    for (size_t i = one.first; i < one.first + one.count && i < skipped.size(); ++i)
      skipped[i] = true;
  }
  std::vector<WalkToken> out;
  for (size_t i = 0; i < text.tokens.size(); ++i) {
    if (skipped[i]) continue;
    const cuda_source::SourceToken& token = text.tokens[i];
    size_t used = 1;
    std::string word = token.text;
    for (const std::string_view joined : kJoined) {
      if (token.kind != SourceKind::Punctuator || !source.substr(token.begin).starts_with(joined))
        continue;
      word = joined;
      used = joined.size();
      break;
    }
    out.push_back({word, token.line, token.kind});
    i += used - 1;
  }
  pair_brackets(out);
  return out;
}

size_t closing(const std::vector<WalkToken>& tokens, size_t open) {
  return open < tokens.size() && opens(tokens[open].text) ? tokens[open].partner : tokens.size();
}

size_t behind_template(const std::vector<WalkToken>& tokens, size_t i) {
  if (tokens[i].kind != SourceKind::Identifier || i + 2 >= tokens.size() ||
      tokens[i + 1].text != "<")
    return i;
  size_t j = i + 2;
  const auto plain = [&](const WalkToken& token) {
    return token.kind == SourceKind::Identifier || token.kind == SourceKind::Number ||
           token.text == "," || token.text == "::" || token.text == "*";
  };
  while (j < tokens.size() && plain(tokens[j])) ++j;
  const bool closed = j + 1 < tokens.size() && tokens[j].text == ">" && tokens[j + 1].text == "(";
  return closed ? j : i;
}

size_t Reckoner::last_of(size_t begin, size_t end, const std::set<std::string>& signs) const {
  size_t found = end;
  for (size_t i = begin; i < end; ++i) {
    if (opens(at(i))) {
      i = closing(tokens_, i);
      continue;
    }
    if (const size_t behind = behind_template(tokens_, i); behind != i) {
      i = behind;
      continue;
    }
    // What stands first is a sign of a number, not an operator.
    const bool binary = i > begin && (tokens_[i - 1].kind != SourceKind::Punctuator ||
                                      at(i - 1) == ")" || at(i - 1) == "]");
    if (binary && signs.contains(at(i))) found = i;
  }
  return found;
}

Interval Reckoner::value(const WalkScope& scope, size_t begin, size_t end) const {
  if (begin >= end || end - begin > kMostTokens) return {};
  // The first '?' outside of brackets has the whole condition before it.
  for (size_t i = begin; i < end; ++i) {
    if (opens(at(i))) i = closing(tokens_, i);
    if (i >= end || at(i) != "?") continue;
    const size_t colon = last_of(i + 1, end, {":"});
    if (colon == end) return {};
    WalkScope yes = scope, no = scope;
    assume(yes, begin, i, true);
    assume(no, begin, i, false);
    const Truth known = truth(scope, begin, i);
    if (known == Truth::Yes) return value(yes, i + 1, colon);
    if (known == Truth::No) return value(no, colon + 1, end);
    return either(value(yes, i + 1, colon), value(no, colon + 1, end));
  }
  if (last_of(begin, end, {"||", "&&"}) != end || last_of(begin, end, kComparisons) != end) {
    const Truth known = truth(scope, begin, end);
    if (known == Truth::Open) return Interval::between(0, 1);
    return Interval::exactly(known == Truth::Yes ? 1 : 0);
  }
  static const std::vector<std::set<std::string>> kLevels = {
      {"|", "^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
  for (const std::set<std::string>& level : kLevels) {
    const size_t sign = last_of(begin, end, level);
    if (sign != end)
      return combine(at(sign), value(scope, begin, sign), value(scope, sign + 1, end));
  }
  return operand(scope, begin, end);
}

std::string Reckoner::name_in(size_t begin, size_t end) const {
  if (end == begin + 1 && tokens_[begin].kind == SourceKind::Identifier) return at(begin);
  if (end == begin + 3 && at(begin + 1) == "." && tokens_[begin].kind == SourceKind::Identifier)
    return at(begin) + "." + at(begin + 2);
  return "";
}

Interval Reckoner::operand(const WalkScope& scope, size_t begin, size_t end) const {
  if (at(begin) == "-") return subtract(Interval::exactly(0), value(scope, begin + 1, end));
  if (at(begin) == "+") return value(scope, begin + 1, end);
  if (at(begin) == "(" && closing(tokens_, begin) == end - 1)
    return value(scope, begin + 1, end - 1);
  if (end == begin + 1 && tokens_[begin].kind == SourceKind::Number) return number(at(begin));
  if (const std::string name = name_in(begin, end); !name.empty()) {
    const auto found = scope.names.find(name);
    return found == scope.names.end() ? Interval{} : found->second;
  }
  return call(scope, begin, end);
}

Interval Reckoner::call(const WalkScope& scope, size_t begin, size_t end) const {
  const size_t open = behind_template(tokens_, begin) + 1;
  if (open >= end || at(open) != "(" || closing(tokens_, open) != end - 1) return {};
  const std::string& name = at(begin);
  if (name == "static_cast" || name == "int" || name == "size_t")
    return value(scope, open + 1, end - 1);
  if (name != "min" && name != "max") return {};
  const size_t comma = last_of(open + 1, end - 1, {","});
  if (comma == end - 1) return {};
  const Interval one = value(scope, open + 1, comma), other = value(scope, comma + 1, end - 1);
  if (!one.known || !other.known) return {};
  return name == "min"
             ? Interval::between(std::min(one.low, other.low), std::min(one.high, other.high))
             : Interval::between(std::max(one.low, other.low), std::max(one.high, other.high));
}

Truth Reckoner::truth(const WalkScope& scope, size_t begin, size_t end) const {
  const auto flipped = [](Truth one) {
    return one == Truth::Open ? one : one == Truth::Yes ? Truth::No : Truth::Yes;
  };
  if (begin >= end || end - begin > kMostTokens) return Truth::Open;
  for (const char* sign : {"||", "&&"}) {
    const size_t where = last_of(begin, end, {sign});
    if (where == end) continue;
    const Truth decides = sign[0] == '|' ? Truth::Yes : Truth::No;
    const Truth one = truth(scope, begin, where), other = truth(scope, where + 1, end);
    if (one == decides || other == decides) return decides;
    return one == Truth::Open || other == Truth::Open ? Truth::Open : flipped(decides);
  }
  if (at(begin) == "!") return flipped(truth(scope, begin + 1, end));
  if (at(begin) == "(" && closing(tokens_, begin) == end - 1)
    return truth(scope, begin + 1, end - 1);
  const size_t sign = last_of(begin, end, kComparisons);
  if (sign != end) return compare(at(sign), value(scope, begin, sign), value(scope, sign + 1, end));
  if (at(begin) == "true" || at(begin) == "false")
    return at(begin) == "true" ? Truth::Yes : Truth::No;
  return compare("!=", operand(scope, begin, end), Interval::exactly(0));
}

void Reckoner::compare_names(WalkScope& scope, size_t begin, size_t sign, size_t end,
                             bool holds) const {
  const std::string word = holds ? at(sign) : negated(at(sign));
  const Interval left = value(scope, begin, sign), right = value(scope, sign + 1, end);
  if (const std::string name = name_in(begin, sign); !name.empty() && right.known)
    scope.names[name] = narrowed(left, word, right);
  if (const std::string name = name_in(sign + 1, end); !name.empty() && left.known)
    scope.names[name] = narrowed(right, mirrored(word), left);
}

void Reckoner::assume(WalkScope& scope, size_t begin, size_t end, bool holds) const {
  if (begin >= end || end - begin > kMostTokens) return;
  for (const char* sign : {"||", "&&"}) {
    const size_t where = last_of(begin, end, {sign});
    if (where == end) continue;
    const bool both = holds == (sign[0] == '&');
    // Of two that may hold, one does when the other cannot.
    const Truth never = sign[0] == '|' ? Truth::No : Truth::Yes;
    const bool left = both || truth(scope, where + 1, end) == never;
    const bool right = both || truth(scope, begin, where) == never;
    if (left) assume(scope, begin, where, holds);
    if (right) assume(scope, where + 1, end, holds);
    return;
  }
  if (at(begin) == "!") return assume(scope, begin + 1, end, !holds);
  if (at(begin) == "(" && closing(tokens_, begin) == end - 1)
    return assume(scope, begin + 1, end - 1, holds);
  const size_t sign = last_of(begin, end, kComparisons);
  if (sign != end) compare_names(scope, begin, sign, end, holds);
}

}  // namespace kw::review
