#include "cases.h"

namespace kw::alu_fuzz {
namespace {

/// What a comparison sees: an order, or none.
enum class Order { Less, Equal, Greater, Unordered };

struct Operator {
  const char* name;
  bool less, equal, greater, unordered;
  bool for_floats_only;
};
constexpr Operator kOperators[] = {
    {"eq", false, true, false, false, false}, {"ne", true, false, true, false, false},
    {"lt", true, false, false, false, false}, {"le", true, true, false, false, false},
    {"gt", false, false, true, false, false}, {"ge", false, true, true, false, false},
    {"equ", false, true, false, true, true},  {"neu", true, false, true, true, true},
    {"ltu", true, false, false, true, true},  {"leu", true, true, false, true, true},
    {"gtu", false, false, true, true, true},  {"geu", false, true, true, true, true},
    {"num", true, true, true, false, true},   {"nan", false, false, false, true, true},
};

bool holds(const Operator& op, Order order) {
  switch (order) {
    case Order::Less:
      return op.less;
    case Order::Equal:
      return op.equal;
    case Order::Greater:
      return op.greater;
    case Order::Unordered:
      return op.unordered;
  }
  return false;
}

using OrderFn = std::function<Order(uint64_t, uint64_t)>;
Order order_of(Int128 a, Int128 b) {
  return a < b ? Order::Less : a > b ? Order::Greater : Order::Equal;
}
OrderFn integer_order(const IntType& t) {
  return [=](uint64_t a, uint64_t b) { return order_of(t.value(a), t.value(b)); };
}
OrderFn float_order(const Format& f, bool ftz) {
  return [=](uint64_t a, uint64_t b) {
    if (f.is_nan(a) || f.is_nan(b)) return Order::Unordered;
    return order_of(compare(decode(f, flushed(f, a, ftz)), decode(f, flushed(f, b, ftz))), 0);
  };
}

struct Logic {
  const char* name;
  uint64_t (*fn)(uint64_t, uint64_t);
};
constexpr Logic kLogic[] = {
    {"", [](uint64_t t, uint64_t) { return t; }},
    {".and", [](uint64_t t, uint64_t c) { return t & c; }},
    {".or", [](uint64_t t, uint64_t c) { return t | c; }},
    {".xor", [](uint64_t t, uint64_t c) { return t ^ c; }},
};

struct Operand {
  std::string name;  // "ftz.f32" without its dot in front
  int bits;
  Shape shape;
  OrderFn order;
  bool pair = false;
  int sm = 80;
};

std::vector<Source> sources(const Operand& operand, bool combined) {
  std::vector<Source> out = {{operand.bits, operand.shape}, {operand.bits, operand.shape}};
  if (combined) out.push_back({1, Shape::Predicate});
  return out;
}

/// Rotates through the boolean operators and forms so that every one meets every type.
void add_setp(std::vector<Case>& cases, const Operator& op, const Operand& operand, int turn) {
  const Logic& logic = kLogic[turn % 4];
  const bool combined = turn % 4 != 0, negated = turn % 8 >= 4 && combined;
  const bool scalar_half =
      operand.shape == Shape::F16 || operand.shape == Shape::Bf16;  // PTX gives those one result
  const bool two = operand.pair || (turn % 3 == 0 && !scalar_half);
  Case c;
  c.text = std::string("setp.") + op.name + logic.name + "." + operand.name +
           (two ? " $d0|$d1" : " $d0") + ", $s0, $s1" +
           (combined ? (negated ? ", !$s2" : ", $s2") : "") + ";";
  c.dst.assign(two ? 2 : 1, 1);
  c.src = sources(operand, combined);
  c.sm = operand.sm;
  c.want = [=](Values s, uint64_t* d) {
    const uint64_t q = combined ? s[2] ^ (negated ? 1 : 0) : 0;
    if (operand.pair) {
      for (int k = 0; k < 2; ++k)
        d[k] = logic.fn(
            holds(op, operand.order(s[0] >> (16 * k) & 0xffff, s[1] >> (16 * k) & 0xffff)), q);
      return;
    }
    const uint64_t truth = holds(op, operand.order(s[0], s[1]));
    d[0] = logic.fn(truth, q);
    if (two) d[1] = logic.fn(truth ^ 1, q);
  };
  cases.push_back(c);
}

struct SetResult {
  const char* name;
  int bits;
  uint64_t yes;
};
void add_set(std::vector<Case>& cases, const Operator& op, const Operand& operand,
             const SetResult& result, int turn) {
  const Logic& logic = kLogic[turn % 4];
  const bool combined = turn % 4 != 0;
  const size_t dot = operand.name.rfind('.');
  const std::string flags = dot == std::string::npos ? "" : operand.name.substr(0, dot) + ".";
  const std::string type = dot == std::string::npos ? operand.name : operand.name.substr(dot + 1);
  Case c;
  c.text = std::string("set.") + op.name + logic.name + "." + flags + result.name + "." + type +
           " $d0, $s0, $s1" + (combined ? ", $s2" : "") + ";";
  c.dst = {result.bits};
  c.src = sources(operand, combined);
  c.sm = operand.sm;
  // ptxas 13.0 writes the integer 1 instead of 1.0f for these forms of an integer eq.
  const bool quirk = combined && operand.shape == Shape::Integer && std::string(op.name) == "eq" &&
                     std::string(result.name) == "f32";
  if (quirk) c.defined = [](Values) { return false; };
  c.want = [=](Values s, uint64_t* d) {
    const uint64_t q = combined ? s[2] : 0;
    d[0] = 0;
    for (int k = 0; k < (operand.pair ? 2 : 1); ++k) {
      const uint64_t a = operand.pair ? s[0] >> (16 * k) & 0xffff : s[0],
                     b = operand.pair ? s[1] >> (16 * k) & 0xffff : s[1];
      if (logic.fn(holds(op, operand.order(a, b)), q) != 0) d[0] |= result.yes << (16 * k);
    }
  };
  cases.push_back(c);
}

std::vector<Operand> float_operands() {
  std::vector<Operand> out;
  for (const bool ftz : {false, true}) {
    const std::string prefix = ftz ? "ftz." : "";
    out.push_back({prefix + "f32", 32, Shape::F32, float_order(kF32, ftz)});
    out.push_back({prefix + "f16", 16, Shape::F16, float_order(kF16, ftz)});
    out.push_back({prefix + "f16x2", 32, Shape::F16x2, float_order(kF16, ftz), true});
  }
  out.push_back({"f64", 64, Shape::F64, float_order(kF64, false)});
  out.push_back({"bf16", 16, Shape::Bf16, float_order(kBf16, false), false, 90});
  out.push_back({"bf16x2", 32, Shape::Bf16x2, float_order(kBf16, false), true, 90});
  return out;
}

/// The results `set` can have for a source type.
std::vector<SetResult> set_results(const Operand& operand) {
  if (operand.pair) {
    const bool is_f16 = operand.shape == Shape::F16x2;
    return {{is_f16 ? "f16x2" : "bf16x2", 32, is_f16 ? 0x3c00u : 0x3f80u}, {"u32", 32, 0xffff}};
  }
  if (operand.shape == Shape::F16)
    return {{"f16", 16, 0x3c00}, {"u16", 16, 0xffff}, {"u32", 32, 0xffffffff}};
  if (operand.shape == Shape::Bf16)
    return {{"bf16", 16, 0x3f80}, {"u16", 16, 0xffff}, {"s32", 32, 0xffffffff}};
  return {{"u32", 32, 0xffffffff}, {"s32", 32, 0xffffffff}, {"f32", 32, 0x3f800000}};
}

}  // namespace

void add_compare_cases(std::vector<Case>& cases) {
  int turn = 0;
  for (const Operator& op : kOperators) {
    if (!op.for_floats_only) {
      for (const IntType& t : kIntTypes) {
        if (t.bits < 16) continue;
        const Operand operand{t.name, t.bits, Shape::Integer, integer_order(t)};
        add_setp(cases, op, operand, turn);
        const SetResult results[] = {
            {"u32", 32, 0xffffffff}, {"f32", 32, 0x3f800000}, {"s32", 32, 0xffffffff}};
        add_set(cases, op, operand, results[turn % 3], turn + 1);
        ++turn;
      }
    }
    for (const Operand& operand : float_operands()) {
      add_setp(cases, op, operand, turn);
      for (const SetResult& result : set_results(operand))
        add_set(cases, op, operand, result, turn++);
    }
  }
  // The unsigned spellings, and untyped bits.
  const std::pair<const char*, const char*> kUnsigned[] = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (const auto& [name, same] : kUnsigned)
    for (const Operator& op : kOperators)
      if (std::string(op.name) == same) {
        Operator renamed = op;
        renamed.name = name;
        for (const int i : {2, 4, 6}) {
          const IntType& t = kIntTypes[i];
          add_setp(cases, renamed, {t.name, t.bits, Shape::Integer, integer_order(t)}, turn++);
        }
      }
  for (const int i : {2, 4, 6}) {
    const IntType& t = kIntTypes[i];
    for (const Operator& op : {kOperators[0], kOperators[1]})
      add_setp(cases, op, {"b" + std::to_string(t.bits), t.bits, Shape::Integer, integer_order(t)},
               turn++);
  }
}

void add_move_cases(std::vector<Case>& cases) {
  const auto push = [&](const std::string& text, std::vector<int> dst, std::vector<Source> src,
                        std::function<void(Values, uint64_t*)> want) {
    Case c;
    c.text = text;
    c.dst = std::move(dst);
    c.src = std::move(src);
    c.want = std::move(want);
    cases.push_back(c);
  };
  const auto word = [](int bits) { return Source{bits, Shape::Integer}; };
  for (const int bits : {16, 32, 64}) {
    const std::string b = "b" + std::to_string(bits);
    push("mov." + b + " $d0, $s0;", {bits}, {word(bits)},
         [](Values s, uint64_t* d) { d[0] = s[0]; });
    push("selp." + b + " $d0, $s0, $s1, $s2;", {bits},
         {word(bits), word(bits), {1, Shape::Predicate}},
         [](Values s, uint64_t* d) { d[0] = s[2] != 0 ? s[0] : s[1]; });
    push("slct." + b + ".s32 $d0, $s0, $s1, $s2;", {bits}, {word(bits), word(bits), word(32)},
         [](Values s, uint64_t* d) { d[0] = s[2] < 0x80000000 ? s[0] : s[1]; });
    for (const bool ftz : {false, true})
      push(std::string("slct.") + (ftz ? "ftz." : "") + b + ".f32 $d0, $s0, $s1, $s2;", {bits},
           {word(bits), word(bits), {32, Shape::F32}}, [=](Values s, uint64_t* d) {
             const uint64_t c = flushed(kF32, s[2], ftz);
             const bool chosen = !kF32.is_nan(c) && ((c & kF32.sign()) == 0 || c == kF32.sign());
             d[0] = chosen ? s[0] : s[1];
           });
  }
  push("selp.f32 $d0, $s0, $s1, !$s2;", {32}, {word(32), word(32), {1, Shape::Predicate}},
       [](Values s, uint64_t* d) { d[0] = s[2] == 0 ? s[0] : s[1]; });
  struct Split {
    int whole, part;
  };
  for (const Split split : {Split{32, 16}, {64, 32}, {64, 16}}) {
    const int count = split.whole / split.part;
    std::string in = "{$s0", out = "{$d0";
    for (int i = 1; i < count; ++i)
      in += ", $s" + std::to_string(i), out += ", $d" + std::to_string(i);
    const std::string b = "mov.b" + std::to_string(split.whole);
    push(b + " $d0, " + in + "};", {split.whole},
         std::vector<Source>(static_cast<size_t>(count), word(split.part)),
         [=](Values s, uint64_t* d) {
           d[0] = 0;
           for (int i = 0; i < count; ++i) d[0] |= s[i] << (split.part * i);
         });
    push(b + " " + out + "}, $s0;", std::vector<int>(static_cast<size_t>(count), split.part),
         {word(split.whole)}, [=](Values s, uint64_t* d) {
           for (int i = 0; i < count; ++i)
             d[i] = s[0] >> (split.part * i) & ((uint64_t(1) << split.part) - 1);
         });
  }
  push("mov.b64 {$d0, _}, $s0;", {32}, {word(64)},
       [](Values s, uint64_t* d) { d[0] = s[0] & 0xffffffff; });
}

}  // namespace kw::alu_fuzz
