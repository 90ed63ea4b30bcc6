// The problem: host expressions of C++ must become integers, tensors or kernels without a compiler.
// The choice: a recursive-descent parser evaluates while it parses, directly on the expanded
// tokens. An expression it cannot handle becomes an Unknown value with the reason, and only its use
// is a problem. The alternative, building a syntax tree first, would need all of C++ before any of
// it is useful. The cost: code that runs repeatedly is parsed again, so steps and nesting are
// limited.
#include "cuda_import/reader_expressions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/ascii.h"
#include "core/text.h"
#include "cuda_import/host_ranges.h"
#include "cuda_import/kept_values.h"
#include "cuda_import/reader_calls.h"
#include "cuda_import/reader_launches.h"
#include "cuda_import/reader_literals.h"
#include "cuda_import/reader_names.h"

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
const std::set<std::string> kAssignments = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="};

// Nested expressions come back to these.
HostValue expression(HostState& host);
HostValue unary(HostState& host);

/// A number of the judging device.
HostValue device_number(const std::string& name) {
  const bool shared = name == "SMEM_MAX";
  const int64_t most = name == "SMS" ? 4096 : shared ? 1 << 24 : usual_most(IntKind::I32);
  return integer_value(named(name, {1, most}), shared ? IntKind::U64 : IntKind::I32);
}

HostValue member_of(HostState& host, HostValue object, const std::string& member,
                    const cuda_source::Token& where) {
  if (object.is(Kind::Address) && object.text.empty()) object = host.target_of(object);
  if (object.is(Kind::Extents)) {
    const int number_of = member == "x" ? 0 : member == "y" ? 1 : member == "z" ? 2 : -1;
    if (number_of < 0) return unknown_value("a dim3 has no '" + member + "'", where);
    const Extents& all = object.extents;
    const TermRef& term = number_of == 0 ? all.x : number_of == 1 ? all.y : all.z;
    HostValue out = fitted(host, term, IntKind::U32, where);
    out.slot = object.slot;
    out.member = number_of;
    return out;
  }
  if (object.is(Kind::Properties)) {
    static const std::map<std::string, std::string> kKnown = {
        {"multiProcessorCount", "SMS"},
        {"l2CacheSize", "L2_BYTES"},
        {"sharedMemPerBlockOptin", "SMEM_MAX"}};
    if (const auto at = kKnown.find(member); at != kKnown.end()) return device_number(at->second);
    if (member == "maxThreadsPerBlock") return integer_value(number(1024));
    if (member == "warpSize") return integer_value(number(32));
    if (member == "sharedMemPerBlock") return integer_value(number(48 * 1024), IntKind::U64);
    return unknown_value("plans do not know the device's '" + member + "'", where);
  }
  if (object.is(Kind::Unknown)) {
    object.slot = HostValue::kNoSlot;
    return object;
  }
  return unknown_value(fmt::format("'.{}' of a host object", member), where);
}

/// A cast that is written down; unlike an implicit conversion it can give an enumeration any
/// number.
HostValue cast(HostState& host, const HostValue& value, const CType& type,
               const cuda_source::Token& where) {
  if (type.pointers == 0 && host.source.enums.count(last_name(type.base)) > 0 &&
      !value.is(Kind::Unknown))
    return unknown_value("a cast to an enumeration", where);
  if (type.reference && aliased(host, type, value) != HostValue::kNoSlot) return value;
  if (type.reference && !value.is(Kind::Unknown))
    return unknown_value("a cast to a reference", where);
  HostValue out = converted(host, value, type, where);
  if (!out.is(Kind::Address)) out.slot = HostValue::kNoSlot;
  return out;
}

HostValue parenthesised(HostState& host) {
  const size_t open = host.at;
  const size_t close = host.behind(open);
  size_t at = open + 1;
  const auto type = read_type(host.tokens(), at, close, host.types);
  const bool plausible = type && at + 1 == close &&
                         (type->known() || type->pointers > 0 || type->base.ends_with("_t"));
  const bool operand =
      close < host.end &&
      (host.token(close).kind != SourceKind::Punctuator || host.token(close).is("(") ||
       host.token(close).is("&") || host.token(close).is("-") || host.token(close).is("!") ||
       host.token(close).is("~") || host.token(close).is("+") || host.token(close).is("*") ||
       host.token(close).is("++") || host.token(close).is("--"));
  if (plausible && operand && find_variable(host, type->base) == HostValue::kNoSlot) {
    const cuda_source::Token where = host.token(open);
    host.at = close;
    return cast(host, unary(host), *type, where);
  }
  host.at = close;
  return evaluate(host, {open + 1, close - 1});
}

HostValue size_of(HostState& host) {
  const cuda_source::Token where = host.token(host.at - 1);
  const bool bare = !host.next_is("(");
  const size_t close = bare ? host.at + (host.next_is("*") ? 2 : 1) : host.behind(host.at);
  const size_t last = bare ? close : close - 1;
  size_t at = bare ? host.at : host.at + 1;
  const bool pointee = host.token(at).is("*");
  if (pointee) ++at;
  const size_t slot =
      host.token(at).identifier() ? find_variable(host, host.token(at).text) : HostValue::kNoSlot;
  std::optional<CType> type;
  if (slot != HostValue::kNoSlot) {
    type = host.slots[slot].type;
    if (pointee) --type->pointers;
    ++at;
  } else {
    type = read_type(host.tokens(), at, last, host.types);
  }
  const bool whole = at == last;
  host.at = std::min(close, host.end);
  if (type && whole && type->pointers > 0) return integer_value(number(8), IntKind::U64);
  if (type && whole && type->size > 0) return integer_value(number(type->size), IntKind::U64);
  return unknown_value("the size of a type that is not known here", where);
}

HostValue named_cast(HostState& host) {
  const cuda_source::Token where = host.here();
  size_t at = host.at + 1;
  const size_t close = cuda_source::behind_angles(host.tokens(), at, host.end);
  ++at;
  const auto type = read_type(host.tokens(), at, close, host.types);
  if (close == host.at + 1 || !type || !host.token(close).is("(")) {
    ++host.at;
    return unknown_value("a cast that is not understood", where);
  }
  const size_t end = host.behind(close);
  host.at = end;
  return cast(host, evaluate(host, {close + 1, end - 1}), *type, where);
}

std::string template_text(HostState& host, TokenRange range) {
  std::vector<std::string> arguments;
  for (const TokenRange& one : host.split(range)) {
    std::string text;
    for (size_t i = one.first; i < one.last; ++i) {
      const cuda_source::Token& part = host.token(i);
      const size_t slot = part.identifier() ? find_variable(host, part.text) : HostValue::kNoSlot;
      const bool constant =
          slot != HostValue::kNoSlot && host.slots[slot].value.is(Kind::Integer) &&
          !host.slots[slot].value.assumed && host.slots[slot].value.term->constant();
      const auto alias = host.types.find(part.text);
      const bool words = !text.empty() && part.identifier() && is_ascii_alnum(text.back());
      if (words) text += " ";
      if (constant) {
        text += std::to_string(*host.slots[slot].value.term->constant());
      } else if (part.identifier() && alias != host.types.end() &&
                 host.source.types.count(part.text) == 0) {
        text += alias->second.text();
      } else {
        text += part.text;
      }
    }
    arguments.push_back(text);
  }
  return join(arguments, ", ");
}

HostValue named_value(HostState& host) {
  const cuda_source::Token where = host.here();
  std::string name = host.token(host.at++).text;
  if (name == "unsigned" || name == "long" || name == "signed") {
    while (host.at < host.end && host.here().identifier() && !host.next_is("("))
      name += " " + host.token(host.at++).text;
  }
  const auto qualify = [&] {
    for (; host.at + 1 < host.end && host.here().is("::") && host.token(host.at + 1).identifier();
         host.at += 2)
      name += "::" + host.token(host.at + 1).text;
  };
  qualify();
  TokenRange templates;
  bool has_templates = false;
  if (host.next_is("<") && find_variable(host, name) == HostValue::kNoSlot) {
    const size_t end = cuda_source::behind_angles(host.tokens(), host.at, host.end);
    const bool is_kernel = host.find_item(name, Item::Kind::Kernel) != nullptr;
    const bool followed = end < host.end && (host.token(end).is("(") || host.token(end).is("<<<") ||
                                             host.token(end).is("::") || host.token(end).is("{"));
    if (end > host.at && (followed || is_kernel)) {
      templates = {host.at + 1, end - 1};
      has_templates = true;
      host.at = end;
      qualify();
    }
  }
  const size_t slot = has_templates ? HostValue::kNoSlot : find_variable(host, name);
  if (slot != HostValue::kNoSlot) return host.value_of(slot);
  if (const Item* item = host.find_item(name, Item::Kind::Kernel)) {
    HostValue out;
    out.kind = Kind::Kernel;
    out.text = item->name + (has_templates ? "<" + template_text(host, templates) + ">" : "");
    return out;
  }
  if (host.next_is("(") || host.next_is("{"))
    return call(host, name, templates, has_templates, where);
  if (name == "true" || name == "false") return truth_value(number(name == "true"));
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
  if (name.find("::") != std::string::npos) find_variable(host, last_name(name));  // for a problem
  return unknown_value(fmt::format("'{}' is not known here", name), where);
}

HostValue primary(HostState& host) {
  const cuda_source::Token where = host.here();
  if (host.at >= host.end) return unknown_value("an expression that ends too early", where);
  if (where.kind == SourceKind::Number) {
    ++host.at;
    return literal(where);
  }
  if (where.kind == SourceKind::String || where.kind == SourceKind::Character) {
    while (host.at < host.end && host.here().kind == where.kind) ++host.at;
    HostValue out;
    out.kind = Kind::Text;
    return out;
  }
  if (where.is("(")) return parenthesised(host);
  if (where.is("[")) return lambda_value(host);
  if (where.is("{")) {
    const size_t end = host.behind(host.at);
    HostValue out;
    out.kind = Kind::List;
    for (const TokenRange& one : host.split({host.at + 1, end - 1}))
      out.items.push_back(evaluate(host, one));
    host.at = end;
    return out;
  }
  if (where.is("::")) ++host.at;
  if (host.at >= host.end || !host.here().identifier()) {
    host.at = std::min(host.at + 1, host.end);
    return unknown_value(fmt::format("'{}' is not understood here", where.text), where);
  }
  if (kCasts.count(host.here().text)) return named_cast(host);
  if (host.take("sizeof")) return size_of(host);
  if (host.here().is("new")) {
    host.problem(where, "memory of the host", "use local variables");
    host.at = host.end;
    return unknown_value("memory of the host", where);
  }
  return named_value(host);
}

/// The new value of a variable, as a place.
HostValue stored(HostState& host, const HostValue& target, const HostValue& value,
                 const cuda_source::Token& where) {
  const size_t slot = target.is(Kind::Address) ? target.home : target.slot;
  if (slot == HostValue::kNoSlot || slot >= host.slots.size()) {
    if (target.is(Kind::Unknown))
      host.problem(target, "an assignment cannot be followed", where);
    else
      host.problem(where, "something is assigned to that is not a variable here",
                   "assign to variables by their names");
    return unknown_value("the value of an assignment", where);
  }
  host.assign(slot, target.member, value, where);
  return target.member >= 0 ? HostValue{} : host.value_of(slot);
}

HostValue step(HostState& host, HostValue value, const std::string& op, bool before,
               const cuda_source::Token& where) {
  HostValue next = combine(host, op.substr(1), value, integer_value(number(1)), where);
  next = stored(host, value, next, where);
  value.slot = value.home = HostValue::kNoSlot;
  return before ? next : value;
}

HostValue postfix(HostState& host) {
  HostValue value = primary(host);
  while (host.at < host.end) {
    const cuda_source::Token where = host.here();
    if (where.is(".") || where.is("->")) {
      ++host.at;
      const std::string member = host.here().text;
      ++host.at;
      if (host.next_is("(")) {
        host.at = host.behind(host.at);
        host.problem(where, fmt::format("a call of '.{}()' is not followed", member), "");
        value = unknown_value(fmt::format("a call of '.{}()'", member), where);
      } else {
        value = member_of(host, value, member, where);
      }
    } else if (where.is("[")) {
      host.at = host.behind(host.at);
      value = unknown_value("an element of an array", where);
    } else if (where.is("++") || where.is("--")) {
      ++host.at;
      value = step(host, value, where.text, false, where);
    } else if (where.is("<<<")) {
      launch(host, value, where);
      value = {};
    } else if (where.is("(") && value.is(Kind::Function)) {
      const size_t end = host.behind(host.at);
      const std::vector<TokenRange> arguments = host.split({host.at + 1, end - 1});
      host.at = end;
      value = call_lambda(host, value, arguments, where);
    } else if (where.is("(")) {
      host.problem(where, "a call that is not followed", "call functions by their names");
      host.at = host.behind(host.at);
      value = unknown_value("the result of a call", where);
    } else {
      break;
    }
  }
  return value;
}

HostValue unary(HostState& host) {
  const cuda_source::Token where = host.here();
  if (host.depth > kMostLevels) {
    host.at = host.end;
    return unknown_value("an expression that is nested too deeply", where);
  }
  if (host.at >= host.end || where.kind != SourceKind::Punctuator) return postfix(host);
  static const std::set<std::string> kPrefixes = {"-", "+", "!", "~", "&", "*", "++", "--"};
  if (kPrefixes.count(where.text) == 0) return postfix(host);
  ++host.at;
  ++host.depth;
  HostValue value = unary(host);
  --host.depth;
  if (value.is(Kind::Unknown) && !where.is("&") && !where.is("++") && !where.is("--")) {
    value.slot = HostValue::kNoSlot;
    return value;
  }
  if (where.is("+")) return combine(host, "+", integer_value(number(0)), value, where);
  if (where.is("-") || where.is("~")) return opposite(host, where.text, value, where);
  if (where.is("++") || where.is("--")) return step(host, value, where.text, true, where);
  if (where.is("!")) {
    const TermRef term = condition_of(value);
    return term ? truth_value(negated(term), is_assumed(value))
                : unknown_value("'!' of no condition", where);
  }
  if (where.is("&")) {
    HostValue out;
    if (value.is(Kind::Kernel)) return value;
    if (value.slot == HostValue::kNoSlot || value.is(Kind::Address) || value.member >= 0)
      return unknown_value("the address of no variable", where);
    out.kind = Kind::Address;
    out.slot = value.slot;
    return out;
  }
  if (where.is("*") && value.is(Kind::Address) && value.text.empty()) return host.target_of(value);
  if (where.is("*") && value.is(Kind::Pointer))
    return unknown_value("device memory is read on the host", where);
  return unknown_value("'" + where.text + "' of this", where);
}

std::string binary_operator(const HostState& host, size_t* length) {
  *length = 1;
  if (host.at >= host.end) return "";
  const cuda_source::Token& first = host.here();
  if (first.kind != SourceKind::Punctuator) return "";
  if (!first.is(">") || host.at + 1 >= host.end || !host.token(host.at + 1).joined)
    return first.text;
  const bool again = host.at + 2 < host.end && host.token(host.at + 2).joined &&
                     (host.token(host.at + 2).is("=") || host.token(host.at + 2).is(">"));
  if (host.token(host.at + 1).is(">")) {
    *length = 2;
    return again ? "" : ">>";
  }
  if (!host.token(host.at + 1).is("=")) return first.text;
  *length = 2;
  return ">=";
}

/// The right operand of && and || counts where the left one does not decide.
HostValue binary(HostState& host, int least);
HostValue right_operand(HostState& host, const std::string& op, int level, const HostValue& left) {
  const TermRef first = op == "&&" || op == "||" ? condition_of(left) : nullptr;
  if (!first) return binary(host, level + 1);
  const Assumption holds(host, op == "&&" ? first : negated(first));
  return binary(host, level + 1);
}

HostValue binary(HostState& host, int least) {
  const size_t start = host.at;
  EffectWatch early(host);
  HostValue left = unary(host);
  bool changes = early.seen();
  while (true) {
    size_t length = 1;
    const std::string op = binary_operator(host, &length);
    const int level = level_of(op);
    if (level == 0 || level < least) return left;
    const cuda_source::Token where = host.here();
    const TokenRange before = {start, host.at};
    host.at += length;
    const size_t first = host.at;
    EffectWatch watch(host);
    const HostValue right = right_operand(host, op, level, left);
    if (op == "&&" || op == "||") {
      watch.check(where);
    } else if ((changes && names_variable(host, {first, host.at})) ||
               (watch.seen() && names_variable(host, before))) {
      host.problem(where, "one operand changes what the other may read", "write two statements");
    }
    changes = changes || watch.seen();
    const bool streams = (op == "<<" || op == ">>") && !left.is(Kind::Integer);
    left = streams ? HostValue{} : combine(host, op, left, right, where);
  }
}

/// Both operands of a ?: have one type.
void balance(HostState& host, HostValue& yes, HostValue& no, const cuda_source::Token& where) {
  if (yes.is(Kind::Integer) && no.is(Kind::Integer) && yes.integer != no.integer) {
    const HostValue other = yes;
    yes = balanced(host, yes, no, where);
    no = balanced(host, no, other, where);
    return;
  }
  const auto is_real = [](const HostValue& value) {
    return value.is(Kind::Real) || value.is(Kind::Ratio) || value.is(Kind::Scalar);
  };
  const bool mixed = (is_real(yes) && (no.is(Kind::Integer) || is_real(no))) ||
                     (is_real(no) && yes.is(Kind::Integer));
  const bool same = yes.is(Kind::Real) && no.is(Kind::Real) && yes.width == no.width;
  const bool open = yes.is(Kind::Unknown) != no.is(Kind::Unknown) &&
                    (yes.is(Kind::Integer) || no.is(Kind::Integer) || is_real(yes) || is_real(no));
  if ((mixed && !same) || open)
    yes = no = unknown_value("a choice between numbers of different types", where);
}

HostValue chosen(HostState& host, const HostValue& value, const HostValue& yes, const HostValue& no,
                 const cuda_source::Token& where) {
  if (is_assumed(value)) return unknown_value("a choice by the outcome of a call", where);
  const TermRef condition = condition_of(value);
  if (!condition || condition->constant()) return host.decide(value, where) ? yes : no;
  if (yes.is(Kind::Integer) && no.is(Kind::Integer) && !yes.assumed && !no.assumed) {
    const TermRef which =
        condition->is_truth() ? condition : make_term(TermOp::NotEqual, {condition, number(0)});
    const TermRef term = make_term(TermOp::Pick, {which, no.term, yes.term});
    if (term->size > kMaxTermSize)
      return unknown_value("an expression that grows too long for a plan", where);
    return integer_value(term, yes.integer);
  }
  if (yes.is(Kind::Unknown) && no.is(Kind::Unknown)) return unknown_value(yes.text, where);
  return host.decide(value, where) ? yes : no;
}

HostValue ternary(HostState& host) {
  const HostValue value = binary(host, 1);
  if (!host.next_is("?")) return value;
  const cuda_source::Token where = host.token(host.at++);
  const TermRef condition = condition_of(value);
  EffectWatch watch(host);
  HostValue yes, no;
  {
    const Assumption holds(host, condition ? condition : number(1));
    yes = expression(host);
  }
  host.take(":");
  {
    const Assumption fails(host, condition ? negated(condition) : number(1));
    no = expression(host);
  }
  watch.check(where);
  balance(host, yes, no, where);
  return chosen(host, value, yes, no, where);
}

HostValue expression(HostState& host) {
  const cuda_source::Token where = host.here();
  if (++host.steps > 200000 || host.depth > kMostLevels) {
    host.at = host.end;
    return unknown_value("an expression that is nested too deeply", where);
  }
  ++host.depth;
  HostValue left = ternary(host);
  std::string op = host.at < host.end ? host.here().text : "";
  const bool shifts = op == ">" && host.at + 2 < host.end && host.token(host.at + 1).is(">") &&
                      host.token(host.at + 1).joined && host.token(host.at + 2).is("=") &&
                      host.token(host.at + 2).joined;
  if (shifts) op = ">>=";
  if (host.at < host.end && (kAssignments.count(op) > 0 || shifts)) {
    const cuda_source::Token sign = host.here();
    host.at += shifts ? 3 : 1;
    EffectWatch watch(host);
    HostValue right = expression(host);
    if (op != "=" && watch.seen())
      host.problem(sign, "one operand changes what the other may read", "write two statements");
    if (op != "=") right = combine(host, op.substr(0, op.size() - 1), left, right, sign);
    left = stored(host, left, right, sign);
  }
  --host.depth;
  return left;
}

}  // namespace

HostValue evaluate(HostState& host, TokenRange range) {
  const auto saved = std::pair(host.at, host.end);
  host.at = range.first;
  host.end = std::min(range.last, host.tokens().size());
  HostValue out;
  if (host.at < host.end) {
    out = expression(host);
    while (host.take(",")) out = expression(host);
    if (host.at < host.end && !out.is(Kind::Unknown))
      out =
          unknown_value(fmt::format("'{}' is not understood here", host.here().text), host.here());
  }
  std::tie(host.at, host.end) = saved;
  return out;
}

Extents extents_of(HostState& host, const HostValue& value, const cuda_source::Token& where,
                   const char* what) {
  if (value.is(Kind::Extents)) return value.extents;
  std::vector<HostValue> items = value.is(Kind::List) ? value.items : std::vector<HostValue>{value};
  Extents out;
  // A plan refuses a launch whose extents do not fit.
  const CType integer = {"long", tensor::DType::Int64, 8};
  for (size_t i = 0; i < items.size() && i < 3; ++i) {
    HostValue one = converted(host, items[i], integer, where);
    if (one.assumed) one = unknown_value("a number made of the outcome of a call", where);
    if (!one.is(Kind::Integer)) {
      host.problem(one, fmt::format("{} cannot be expressed in a plan", what), where);
      continue;
    }
    (i == 0 ? out.x : i == 1 ? out.y : out.z) = one.term;
  }
  return out;
}

}  // namespace kw::cuda_import
