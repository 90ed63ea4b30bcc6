#include "review/walk.h"

#include <fmt/core.h>

namespace kw::review {
namespace {

using cuda_source::SourceKind;

const std::set<std::string> kWhole = {"int",   "unsigned", "long",     "short",   "size_t",
                                      "auto",  "int32_t",  "uint32_t", "int64_t", "uint64_t",
                                      "Index", "char",     "ptrdiff_t"};
const std::set<std::string> kAssigns = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

constexpr int kDeepest = 100;

int64_t element_bytes(const std::string& type) {
  if (type == "float" || type == "int" || type == "unsigned" || type == "uint32_t") return 4;
  if (type == "double" || type == "int64_t") return 8;
  return type == "__half" || type == "__nv_bfloat16" ? 2 : 0;
}

}  // namespace

size_t Walk::statement_end(size_t i) const {
  for (; i < tokens_.size(); ++i) {
    if (at(i) == "(" || at(i) == "[" || at(i) == "{") i = closing(tokens_, i);
    if (i < tokens_.size() && (at(i) == ";" || at(i) == "}")) return i;
  }
  return tokens_.size();
}

void Walk::statements(size_t begin, size_t end) {
  for (size_t i = begin; i < end;) {
    const size_t next = statement(i);
    i = next > i ? next : i + 1;
  }
}

size_t Walk::statement(size_t i) {
  // Whoever nests deeper wants to see us fall, not to be followed.
  if (depth_ >= kDeepest) return tokens_.size();
  ++depth_;
  const size_t next = any_statement(i);
  --depth_;
  return std::min(next, tokens_.size());
}

size_t Walk::any_statement(size_t i) {
  const std::string& word = at(i);
  if (word == "{") {
    const size_t close = closing(tokens_, i);
    const WalkScope before = scope_;
    statements(i + 1, std::min(close, tokens_.size()));
    scope_ = before;
    forget_assigned(i + 1, std::min(close, tokens_.size()));
    return close + 1;
  }
  if (word == "if") return if_statement(i);
  if (word == "for") return for_statement(i);
  if (word == "while") return while_statement(i);
  if (word == "do" || word == "else") return i + 1;
  const size_t end = std::min(statement_end(i), tokens_.size());
  look_at_accesses(i, end);
  if (word == "return" || word == "continue" || word == "break") return end + 1;
  if (word == "__shared__" || word == "extern") {
    declare_array(i, end, word == "__shared__");
  } else {
    declare_or_assign(i, end);
  }
  return end + 1;
}

/// Whether a statement ends what follows it for whoever enters it.
bool Walk::leaves(size_t begin, size_t end) const {
  while (begin < end && at(begin) == "{") ++begin;
  return begin < end && (at(begin) == "return" || at(begin) == "continue" || at(begin) == "break");
}

size_t Walk::if_statement(size_t i) {
  size_t open = i + 1;
  if (open < tokens_.size() && at(open) == "constexpr") ++open;
  if (open >= tokens_.size() || at(open) != "(") return i + 1;
  const size_t close = closing(tokens_, open);
  if (close >= tokens_.size()) return tokens_.size();
  look_at_accesses(open + 1, close);
  const Truth known = reckoner_.truth(scope_, open + 1, close);
  const WalkScope before = scope_;
  reckoner_.assume(scope_, open + 1, close, true);
  const size_t findings = findings_.size();
  const size_t then_end = close + 1 < tokens_.size() ? statement(close + 1) : tokens_.size();
  if (known == Truth::No) findings_.resize(findings);
  scope_ = before;
  size_t end = then_end;
  if (then_end < tokens_.size() && at(then_end) == "else") {
    reckoner_.assume(scope_, open + 1, close, false);
    const size_t kept = findings_.size();
    end = then_end + 1 < tokens_.size() ? statement(then_end + 1) : tokens_.size();
    if (known == Truth::Yes) findings_.resize(kept);
    scope_ = before;
  }
  forget_assigned(close + 1, std::min(end, tokens_.size()));
  if (leaves(close + 1, then_end)) reckoner_.assume(scope_, open + 1, close, false);
  return end;
}

size_t Walk::for_statement(size_t i) {
  if (i + 1 >= tokens_.size() || at(i + 1) != "(") return i + 1;
  const size_t close = closing(tokens_, i + 1);
  if (close + 1 >= tokens_.size()) return tokens_.size();
  const size_t first = statement_end(i + 2), second = statement_end(first + 1);
  if (second >= close) return close + 1;  // over a range
  const WalkScope before = scope_;
  const size_t assigned_before = findings_.size();
  declare_or_assign(i + 2, first);
  std::string name;
  for (size_t k = i + 2; k < first && name.empty(); ++k) {
    if (k + 1 < first && at(k + 1) == "=") name = at(k);
  }
  const Interval start = scope_.names.contains(name) ? scope_.names[name] : Interval{};
  const WalkScope entered = scope_;
  // What the body assigns is anything from the second round on.
  const size_t body = close + 1;
  const size_t body_end = at(body) == "{" ? closing(tokens_, body) + 1 : statement_end(body) + 1;
  forget_assigned(body, std::min(body_end, tokens_.size()));
  bool up = false, down = false;
  for (size_t k = second + 1; k < close; ++k) {
    up = up || at(k) == "++" || at(k) == "+=" || at(k) == "*=" || at(k) == "<<=";
    down = down || at(k) == "--" || at(k) == "-=" || at(k) == "/=" || at(k) == ">>=";
  }
  if (!name.empty() && start.known && up != down)
    scope_.names[name] = up ? Interval::between(start.low, Interval::kFar)
                            : Interval::between(-Interval::kFar, start.high);
  reckoner_.assume(scope_, first + 1, second, true);
  const bool never = reckoner_.truth(entered, first + 1, second) == Truth::No;
  const size_t end = statement(body);
  if (never) findings_.resize(assigned_before);
  scope_ = before;
  forget_assigned(body, std::min(end, tokens_.size()));
  return end;
}

size_t Walk::while_statement(size_t i) {
  if (i + 1 >= tokens_.size() || at(i + 1) != "(") return i + 1;
  const size_t close = closing(tokens_, i + 1);
  if (close + 1 >= tokens_.size()) return tokens_.size();
  const size_t body_end =
      at(close + 1) == "{" ? closing(tokens_, close + 1) + 1 : statement_end(close + 1) + 1;
  forget_assigned(i + 2, std::min(body_end, tokens_.size()));
  const WalkScope before = scope_;
  reckoner_.assume(scope_, i + 2, close, true);
  const size_t end = statement(close + 1);
  scope_ = before;
  return end;
}

void Walk::declare_array(size_t begin, size_t end, bool shared) {
  size_t open = begin;
  while (open < end && at(open) != "[") ++open;
  if (open >= end || open == begin || open + 1 >= end) return;
  const std::string& name = at(open - 1);
  const Interval extent = reckoner_.value(scope_, open + 1, closing(tokens_, open));
  scope_.extents[name] = extent;
  if (!shared || !extent.single()) return;
  Interval elements = extent;
  for (size_t next = closing(tokens_, open) + 1; next < end && at(next) == "[";
       next = closing(tokens_, next) + 1)
    elements = multiply(elements, reckoner_.value(scope_, next + 1, closing(tokens_, next)));
  int64_t bytes = 0;
  for (size_t i = begin; i + 1 < open; ++i) bytes = std::max(bytes, element_bytes(at(i)));
  if (elements.single()) shared_bytes_ += bytes * elements.low;
}

void Walk::declare_or_assign(size_t begin, size_t end) {
  size_t sign = begin;
  while (sign < end && !kAssigns.contains(at(sign))) {
    if (at(sign) == "(" || at(sign) == "[") sign = closing(tokens_, sign);
    ++sign;
  }
  if (sign >= end) {
    // "float kept[4][8];", "int i;": nothing is known of what is in it.
    if (end > begin + 2 && tokens_[begin].kind == SourceKind::Identifier)
      declare_array(begin, end, false);
    forget_assigned(begin, end);
    return;
  }
  if (sign == begin || tokens_[sign - 1].kind != SourceKind::Identifier) return;
  const std::string& name = at(sign - 1);
  bool whole = sign == begin + 1, pointer = false;
  for (size_t i = begin; i + 1 < sign; ++i) {
    whole = whole || kWhole.contains(at(i));
    pointer = pointer || at(i) == "*" || at(i) == "&";
  }
  scope_.extents.erase(name);
  if (whole && !pointer && at(sign) == "=")
    scope_.names[name] = reckoner_.value(scope_, sign + 1, end);
  else
    scope_.names.erase(name);
}

void Walk::forget_assigned(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const bool here = tokens_[i].kind == SourceKind::Identifier;
    if (!here) continue;
    const bool behind =
        i + 1 < end && (kAssigns.contains(at(i + 1)) || at(i + 1) == "++" || at(i + 1) == "--");
    const bool before = i > begin && (at(i - 1) == "++" || at(i - 1) == "--" || at(i - 1) == "&");
    if (behind || before) scope_.names.erase(at(i));
  }
}

void Walk::look_at_accesses(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    // What stands behind these is not always evaluated.
    if (at(i) == "?" || at(i) == "&&" || at(i) == "||") return;
    if (tokens_[i].kind != SourceKind::Identifier || !scope_.extents.contains(at(i))) continue;
    if (i + 1 >= end) return;
    if (at(i + 1) == "[") {
      const size_t close = closing(tokens_, i + 1);
      if (close < end) check_index(at(i), reckoner_.value(scope_, i + 2, close), tokens_[i].line);
    } else if (at(i + 1) == "+" && i > begin && (at(i - 1) == "(" || at(i - 1) == ",")) {
      size_t stop = i + 2;
      while (stop < end && at(stop) != "," && at(stop) != ")")
        stop = at(stop) == "(" || at(stop) == "[" ? closing(tokens_, stop) + 1 : stop + 1;
      if (stop < end) check_index(at(i), reckoner_.value(scope_, i + 2, stop), tokens_[i].line);
    }
  }
}

void Walk::check_index(const std::string& name, const Interval& index, int line) {
  const Interval& extent = scope_.extents.at(name);
  if (!extent.single() || !index.bounded() || index.empty()) return;
  if (index.low >= 0 && index.high < extent.low) return;
  findings_.push_back({line, fmt::format("an index of {} may be {} to {}, and it has {} elements",
                                         name, index.low, index.high, extent.low)});
}

}  // namespace kw::review
