// The problem: host expressions of C++ must become integers, tensors or kernels without a compiler.
// The choice: a recursive-descent parser evaluates while it parses, directly on the expanded
// tokens. An expression it cannot handle becomes an Unknown value with the reason, and only its use
// is a problem. The alternative, building a syntax tree first, would need all of C++ before any of
// it is useful. The cost: code that runs repeatedly is parsed again, so steps and nesting are
// limited.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/text.h"
#include "cuda_import/host_code_reader.h"

namespace kw::cuda_import {

namespace {

using cuda_source::SourceKind;
using Kind = HostValue::Kind;

constexpr int kMostLevels = 120;

struct Level {
  const char* op;
  int level;
};
constexpr std::array kLevels = {
    Level{"||", 1}, Level{"&&", 2}, Level{"|", 3},  Level{"^", 4},  Level{"&", 5},  Level{"==", 6},
    Level{"!=", 6}, Level{"<", 7},  Level{"<=", 7}, Level{">", 7},  Level{">=", 7}, Level{"<<", 8},
    Level{">>", 8}, Level{"+", 9},  Level{"-", 9},  Level{"*", 10}, Level{"/", 10}, Level{"%", 10}};

int level_of(const std::string& op) {
  for (const Level& row : kLevels) {
    if (op == row.op) return row.level;
  }
  return 0;
}

const std::set<std::string> kCasts = {"static_cast", "reinterpret_cast", "const_cast",
                                      "dynamic_cast"};
const std::set<std::string> kAssignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<="};

HostValue literal(const cuda_source::Token& token) {
  std::string text = replace_all(token.text, "'", "");
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  const bool real = !hex && text.find_first_of(".eE") != std::string::npos;
  while (!text.empty()) {
    const char c = text.back();
    const bool suffix = c == 'u' || c == 'U' || c == 'l' || c == 'L' || c == 'z' || c == 'Z' ||
                        (!hex && (c == 'f' || c == 'F'));
    if (!suffix) break;
    text.pop_back();
  }
  if (real) {
    if (text.ends_with(".")) text += "0";
    if (text.starts_with(".")) text = "0" + text;
    HostValue out;
    out.kind = Kind::Real;
    const auto value = parse_double(text);
    if (!value) return unknown_value("'" + token.text + "' is not a number", token);
    out.real = *value;
    return out;
  }
  const int base = hex ? 16 : binary ? 2 : text.size() > 1 && text[0] == '0' ? 8 : 10;
  int64_t value = 0;
  for (const char c : hex || binary ? text.substr(2) : text) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value))
      return unknown_value("'" + token.text + "' is not a number that fits 64 bits", token);
  }
  return integer_value(number(value));
}

}  // namespace

HostValue HostCodeReader::evaluate(Range range) {
  const auto saved = std::pair(at_, end_);
  at_ = range.first;
  end_ = std::min(range.last, codes_[code_].size());
  HostValue out;
  if (at_ < end_) {
    out = expression();
    while (take(",")) out = expression();
    if (at_ < end_ && !out.is(Kind::Unknown))
      out = unknown_value(fmt::format("'{}' is not understood here", token(at_).text), token(at_));
  }
  std::tie(at_, end_) = saved;
  return out;
}

HostValue HostCodeReader::expression() {
  const cuda_source::Token where = token(at_);
  if (++steps_ > 200000 || depth_ > kMostLevels) {
    at_ = end_;
    return unknown_value("an expression that is nested too deeply", where);
  }
  ++depth_;
  HostValue left = ternary();
  std::string op = at_ < end_ ? token(at_).text : "";
  const bool shifts = op == ">" && at_ + 2 < end_ && token(at_ + 1).is(">") &&
                      token(at_ + 1).joined && token(at_ + 2).is("=") && token(at_ + 2).joined;
  if (shifts) op = ">>=";
  if (at_ < end_ && (kAssignments.count(op) > 0 || shifts)) {
    const cuda_source::Token sign = token(at_);
    at_ += shifts ? 3 : 1;
    HostValue right = expression();
    if (op != "=") right = combine(op.substr(0, op.size() - 1), left, right, sign);
    const bool known = left.slot != HostValue::kNoSlot && !left.is(Kind::Address);
    if (known) assign(left.slot, left.member, right, sign);
    left = std::move(right);
  }
  --depth_;
  return left;
}

HostValue HostCodeReader::ternary() {
  HostValue value = binary(1);
  if (!next_is("?")) return value;
  const cuda_source::Token where = token(at_++);
  const TermRef condition = condition_of(value);
  if (condition && condition->constant() == std::nullopt) {
    HostValue yes = expression();
    take(":");
    HostValue no = expression();
    if (yes.is(Kind::Integer) && no.is(Kind::Integer)) {
      const TermRef which =
          condition->is_truth() ? condition : make_term(TermOp::NotEqual, {condition, number(0)});
      return integer_value(make_term(TermOp::Pick, {which, no.term, yes.term}));
    }
    if (yes.is(Kind::Unknown) && no.is(Kind::Unknown)) return yes;
    return decide(value, where) ? yes : no;
  }
  const bool holds = decide(value, where);
  HostValue yes = expression();
  take(":");
  HostValue no = expression();
  return holds ? yes : no;
}

std::string HostCodeReader::binary_operator(size_t* length) const {
  *length = 1;
  if (at_ >= end_) return "";
  const cuda_source::Token& first = token(at_);
  if (first.kind != SourceKind::Punctuator) return "";
  if (!first.is(">") || at_ + 1 >= end_ || !token(at_ + 1).joined) return first.text;
  const bool again =
      at_ + 2 < end_ && token(at_ + 2).joined && (token(at_ + 2).is("=") || token(at_ + 2).is(">"));
  if (token(at_ + 1).is(">")) {
    *length = 2;
    return again ? "" : ">>";
  }
  if (!token(at_ + 1).is("=")) return first.text;
  *length = 2;
  return ">=";
}

HostValue HostCodeReader::binary(int least) {
  HostValue left = unary();
  while (true) {
    size_t length = 1;
    const std::string op = binary_operator(&length);
    const int level = level_of(op);
    if (level == 0 || level < least) return left;
    const cuda_source::Token where = token(at_);
    at_ += length;
    const HostValue right = binary(level + 1);
    const bool streams = (op == "<<" || op == ">>") && !left.is(Kind::Integer);
    left = streams ? HostValue{} : combine(op, left, right, where);
  }
}

HostValue HostCodeReader::step(HostValue value, const std::string& op, bool before,
                               const cuda_source::Token& where) {
  if (value.slot == HostValue::kNoSlot) return unknown_value("'" + op + "' of no variable", where);
  const size_t slot = value.slot;
  HostValue next = combine(op.substr(1), value, integer_value(number(1)), where);
  assign(slot, value.member, next, where);
  return before ? next : value;
}

HostValue HostCodeReader::unary() {
  const cuda_source::Token where = token(at_);
  if (depth_ > kMostLevels) {
    at_ = end_;
    return unknown_value("an expression that is nested too deeply", where);
  }
  if (at_ >= end_ || where.kind != SourceKind::Punctuator) return postfix();
  static const std::set<std::string> kPrefixes = {"-", "+", "!", "~", "&", "*", "++", "--"};
  if (kPrefixes.count(where.text) == 0) return postfix();
  ++at_;
  ++depth_;
  HostValue value = unary();
  --depth_;
  if (value.is(Kind::Unknown) && !where.is("&")) return value;
  if (where.is("+")) return value;
  if (where.is("-")) return combine("-", integer_value(number(0)), value, where);
  if (where.is("++") || where.is("--")) return step(value, where.text, true, where);
  if (where.is("!")) {
    const TermRef term = condition_of(value);
    return term ? integer_value(negated(term)) : unknown_value("'!' of no condition", where);
  }
  if (where.is("&")) {
    HostValue out;
    if (value.is(Kind::Kernel)) return value;
    if (value.slot == HostValue::kNoSlot) return unknown_value("the address of no variable", where);
    out.kind = Kind::Address;
    out.slot = value.slot;
    return out;
  }
  if (where.is("*") && value.is(Kind::Address)) return target_of(value);
  if (where.is("*") && value.is(Kind::Pointer))
    return unknown_value("device memory is read on the host", where);
  return unknown_value("'" + where.text + "' of this", where);
}

HostValue HostCodeReader::postfix() {
  HostValue value = primary();
  while (at_ < end_) {
    const cuda_source::Token where = token(at_);
    if (where.is(".") || where.is("->")) {
      ++at_;
      const std::string member = token(at_).text;
      ++at_;
      if (next_is("(")) {
        at_ = cuda_source::behind_bracket(codes_[code_], at_, end_);
        value = unknown_value(fmt::format("a call of '.{}()'", member), where);
      } else {
        value = member_of(value, member, where);
      }
    } else if (where.is("[")) {
      at_ = cuda_source::behind_bracket(codes_[code_], at_, end_);
      value = unknown_value("an element of an array", where);
    } else if (where.is("++") || where.is("--")) {
      ++at_;
      value = step(value, where.text, false, where);
    } else if (where.is("<<<")) {
      launch(value, where);
      value = {};
    } else if (where.is("(") && value.is(Kind::Function)) {
      const size_t end = cuda_source::behind_bracket(codes_[code_], at_, end_);
      const std::vector<Range> arguments = split({at_ + 1, end - 1});
      at_ = end;
      value = call_lambda(value, arguments, where);
    } else {
      break;
    }
  }
  return value;
}

HostValue HostCodeReader::member_of(HostValue object, const std::string& member,
                                    const cuda_source::Token& where) {
  if (object.is(Kind::Address)) object = target_of(object);
  if (object.is(Kind::Extents)) {
    const int number_of = member == "x" ? 0 : member == "y" ? 1 : member == "z" ? 2 : -1;
    if (number_of < 0) return unknown_value("a dim3 has no '" + member + "'", where);
    const Extents& all = object.extents;
    HostValue out = integer_value(number_of == 0 ? all.x : number_of == 1 ? all.y : all.z);
    out.slot = object.slot;
    out.member = number_of;
    return out;
  }
  if (object.is(Kind::Properties)) {
    static const std::map<std::string, std::string> kKnown = {
        {"multiProcessorCount", "SMS"},
        {"l2CacheSize", "L2_BYTES"},
        {"sharedMemPerBlockOptin", "SMEM_MAX"}};
    if (const auto at = kKnown.find(member); at != kKnown.end())
      return integer_value(named(at->second));
    if (member == "maxThreadsPerBlock") return integer_value(number(1024));
    if (member == "warpSize") return integer_value(number(32));
    if (member == "sharedMemPerBlock") return integer_value(number(48 * 1024));
    return unknown_value("plans do not know the device's '" + member + "'", where);
  }
  if (object.is(Kind::Unknown)) return object;
  return unknown_value(fmt::format("'.{}' of a host object", member), where);
}

HostValue HostCodeReader::parenthesised() {
  const size_t open = at_;
  const size_t close = cuda_source::behind_bracket(codes_[code_], open, end_);
  size_t at = open + 1;
  const auto type = read_type(codes_[code_], at, close, types_);
  const bool plausible = type && at + 1 == close &&
                         (type->known() || type->pointers > 0 || type->base.ends_with("_t"));
  const bool operand =
      close < end_ && (token(close).kind != SourceKind::Punctuator || token(close).is("(") ||
                       token(close).is("&") || token(close).is("-") || token(close).is("!"));
  if (plausible && operand && find_variable(type->base) == HostValue::kNoSlot) {
    const cuda_source::Token where = token(open);
    at_ = close;
    return converted(unary(), *type, where);
  }
  at_ = close;
  return evaluate({open + 1, close - 1});
}

HostValue HostCodeReader::lambda() {
  HostValue out;
  out.kind = Kind::Function;
  out.code = code_;
  at_ = cuda_source::behind_bracket(codes_[code_], at_, end_);
  if (next_is("(")) {
    const size_t end = cuda_source::behind_bracket(codes_[code_], at_, end_);
    out.first = at_ + 1;
    out.last = end - 1;
    at_ = end;
  }
  while (at_ < end_ && !token(at_).is("{")) ++at_;
  const size_t end = cuda_source::behind_bracket(codes_[code_], at_, end_);
  out.body_first = at_ + 1;
  out.body_last = std::max(at_ + 1, end - 1);
  at_ = end;
  return out;
}

HostValue HostCodeReader::size_of() {
  const cuda_source::Token where = token(at_ - 1);
  const bool bare = !next_is("(");
  const size_t close =
      bare ? at_ + (next_is("*") ? 2 : 1) : cuda_source::behind_bracket(codes_[code_], at_, end_);
  const size_t last = bare ? close : close - 1;
  size_t at = bare ? at_ : at_ + 1;
  const bool pointee = token(at).is("*");
  if (pointee) ++at;
  const size_t slot = token(at).identifier() ? find_variable(token(at).text) : HostValue::kNoSlot;
  std::optional<CType> type;
  if (slot != HostValue::kNoSlot) {
    type = slots_[slot].type;
    if (pointee) --type->pointers;
    ++at;
  } else {
    type = read_type(codes_[code_], at, last, types_);
  }
  const bool whole = at == last;
  at_ = std::min(close, end_);
  if (type && whole && type->pointers > 0) return integer_value(number(8));
  if (type && whole && type->size > 0) return integer_value(number(type->size));
  return unknown_value("the size of a type that is not known here", where);
}

HostValue HostCodeReader::named_cast() {
  const cuda_source::Token where = token(at_);
  size_t at = at_ + 1;
  const size_t close = cuda_source::behind_angles(codes_[code_], at, end_);
  ++at;
  const auto type = read_type(codes_[code_], at, close, types_);
  if (close == at_ + 1 || !type || !token(close).is("(")) {
    ++at_;
    return unknown_value("a cast that is not understood", where);
  }
  const size_t end = cuda_source::behind_bracket(codes_[code_], close, end_);
  at_ = end;
  return converted(evaluate({close + 1, end - 1}), *type, where);
}

HostValue HostCodeReader::primary() {
  const cuda_source::Token where = token(at_);
  if (at_ >= end_) return unknown_value("an expression that ends too early", where);
  if (where.kind == SourceKind::Number) {
    ++at_;
    return literal(where);
  }
  if (where.kind == SourceKind::String || where.kind == SourceKind::Character) {
    while (at_ < end_ && token(at_).kind == where.kind) ++at_;
    HostValue out;
    out.kind = Kind::Text;
    return out;
  }
  if (where.is("(")) return parenthesised();
  if (where.is("[")) return lambda();
  if (where.is("{")) {
    const size_t end = cuda_source::behind_bracket(codes_[code_], at_, end_);
    HostValue out;
    out.kind = Kind::List;
    for (const Range& one : split({at_ + 1, end - 1})) out.items.push_back(evaluate(one));
    at_ = end;
    return out;
  }
  if (where.is("::")) ++at_;
  if (at_ >= end_ || !token(at_).identifier()) {
    at_ = std::min(at_ + 1, end_);
    return unknown_value(fmt::format("'{}' is not understood here", where.text), where);
  }
  if (kCasts.count(token(at_).text)) return named_cast();
  if (take("sizeof")) return size_of();
  if (token(at_).is("new")) {
    at_ = end_;
    return unknown_value("memory of the host", where);
  }
  return name();
}

HostValue HostCodeReader::name() {
  const cuda_source::Token where = token(at_);
  std::string name = token(at_++).text;
  if (name == "unsigned" || name == "long" || name == "signed") {
    while (at_ < end_ && token(at_).identifier() && !next_is("(")) name += " " + token(at_++).text;
  }
  while (at_ + 1 < end_ && token(at_).is("::") && token(at_ + 1).identifier()) {
    name += "::" + token(at_ + 1).text;
    at_ += 2;
  }
  Range templates;
  bool has_templates = false;
  if (next_is("<") && find_variable(name) == HostValue::kNoSlot) {
    const size_t end = cuda_source::behind_angles(codes_[code_], at_, end_);
    const bool is_kernel = find_item(name, Item::Kind::Kernel) != nullptr;
    const bool followed = end < end_ && (token(end).is("(") || token(end).is("<<<") ||
                                         token(end).is("::") || token(end).is("{"));
    if (end > at_ && (followed || is_kernel)) {
      templates = {at_ + 1, end - 1};
      has_templates = true;
      at_ = end;
      while (at_ + 1 < end_ && token(at_).is("::") && token(at_ + 1).identifier()) {
        name += "::" + token(at_ + 1).text;
        at_ += 2;
      }
    }
  }
  const size_t slot = has_templates ? HostValue::kNoSlot : find_variable(name);
  if (slot != HostValue::kNoSlot) {
    HostValue value = slots_[slot].value;
    if (!value.is(Kind::Address)) value.slot = slot;
    return value;
  }
  if (const Item* item = find_item(name, Item::Kind::Kernel)) {
    HostValue out;
    out.kind = Kind::Kernel;
    out.text = item->name + (has_templates ? "<" + template_text(templates) + ">" : "");
    return out;
  }
  if (next_is("(") || next_is("{")) return call(name, templates, has_templates, where);
  if (name == "true" || name == "false") return integer_value(number(name == "true"));
  HostValue out;
  if (name == "nullptr" || name == "NULL") {
    out.kind = Kind::Pointer;
    return out;
  }
  if (name == "cudaSuccess") {
    out.kind = Kind::Status;
    return out;
  }
  if (name.starts_with("cuda") || name.starts_with("std::") || name == "stderr") {
    out.kind = Kind::Text;
    out.text = name;
    return out;
  }
  return unknown_value(fmt::format("'{}' is not known here", name), where);
}

std::string HostCodeReader::template_text(Range range) {
  std::vector<std::string> arguments;
  for (const Range& one : split(range)) {
    std::string text;
    for (size_t i = one.first; i < one.last; ++i) {
      const cuda_source::Token& part = token(i);
      const size_t slot = part.identifier() ? find_variable(part.text) : HostValue::kNoSlot;
      const bool constant = slot != HostValue::kNoSlot && slots_[slot].value.is(Kind::Integer) &&
                            slots_[slot].value.term->constant();
      const auto alias = types_.find(part.text);
      const bool words = !text.empty() && part.identifier() && (isalnum(text.back()) != 0);
      if (words) text += " ";
      if (constant) {
        text += std::to_string(*slots_[slot].value.term->constant());
      } else if (part.identifier() && alias != types_.end() &&
                 source_.types.count(part.text) == 0) {
        text += alias->second.text();
      } else {
        text += part.text;
      }
    }
    arguments.push_back(text);
  }
  return join(arguments, ", ");
}

Extents HostCodeReader::extents_of(const HostValue& value, const cuda_source::Token& where,
                                   const char* what) {
  if (value.is(Kind::Extents)) return value.extents;
  std::vector<HostValue> items = value.is(Kind::List) ? value.items : std::vector<HostValue>{value};
  Extents out;
  const CType integer = {"int", tensor::DType::Int32, 4};
  for (size_t i = 0; i < items.size() && i < 3; ++i) {
    const HostValue one = converted(items[i], integer, where);
    if (!one.is(Kind::Integer)) {
      problem(one, fmt::format("{} cannot be said", what), where);
      continue;
    }
    (i == 0 ? out.x : i == 1 ? out.y : out.z) = one.term;
  }
  return out;
}

}  // namespace kw::cuda_import
