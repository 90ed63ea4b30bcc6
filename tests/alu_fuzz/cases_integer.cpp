#include "cases.h"

namespace kw::alu_fuzz {
namespace {

using Fn = std::function<Int128(const IntType&, Int128, Int128, Int128)>;

struct Row {
  const char* name;
  int sources;
  Fn fn;
  bool (*has)(const IntType&);
  bool wide = false;
  bool divides = false;  // undefined for a zero divisor
};

bool from16(const IntType& t) { return t.bits >= 16; }
bool wider(const IntType& t) { return t.bits == 16 || t.bits == 32; }
bool only32(const IntType& t) { return t.bits == 32; }
bool only_s32(const IntType& t) { return t.bits == 32 && t.is_signed; }
bool only_signed(const IntType& t) { return t.bits >= 16 && t.is_signed; }

Int128 limited(const IntType& t, Int128 x) {
  return x < t.low() ? t.low() : x > t.high() ? t.high() : x;
}
/// The product as a 128-bit pattern; of two u64 it fills all of it.
Int128 times(Int128 a, Int128 b) {
  return static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
}
Int128 upper(const IntType& t, Int128 a, Int128 b) {
  return t.is_signed ? times(a, b) >> t.bits
                     : static_cast<Int128>(static_cast<UInt128>(times(a, b)) >> t.bits);
}
Int128 low24(const IntType& t, Int128 x) {
  return IntType{"", 24, t.is_signed}.value(static_cast<uint64_t>(static_cast<UInt128>(x)));
}
Int128 smaller(Int128 a, Int128 b) { return a < b ? a : b; }
Int128 larger(Int128 a, Int128 b) { return a > b ? a : b; }

const Row kRows[] = {
    {"add", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return a + b; }, from16},
    {"sub", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return a - b; }, from16},
    {"add.sat", 2, [](const IntType& t, Int128 a, Int128 b, Int128) { return limited(t, a + b); },
     only_s32},
    {"sub.sat", 2, [](const IntType& t, Int128 a, Int128 b, Int128) { return limited(t, a - b); },
     only_s32},
    {"mul.lo", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return times(a, b); }, from16},
    {"mul.hi", 2, [](const IntType& t, Int128 a, Int128 b, Int128) { return upper(t, a, b); },
     from16},
    {"mul.wide", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return times(a, b); }, wider,
     true},
    {"mad.lo", 3,
     [](const IntType&, Int128 a, Int128 b, Int128 c) {
       return static_cast<Int128>(static_cast<UInt128>(times(a, b)) + static_cast<UInt128>(c));
     },
     from16},
    {"mad.hi", 3, [](const IntType& t, Int128 a, Int128 b, Int128 c) { return upper(t, a, b) + c; },
     from16},
    {"mad.wide", 3, [](const IntType&, Int128 a, Int128 b, Int128 c) { return times(a, b) + c; },
     wider, true},
    {"mad.hi.sat", 3,
     [](const IntType& t, Int128 a, Int128 b, Int128 c) { return limited(t, upper(t, a, b) + c); },
     only_s32},
    {"mul24.lo", 2,
     [](const IntType& t, Int128 a, Int128 b, Int128) { return low24(t, a) * low24(t, b); },
     only32},
    {"mul24.hi", 2,
     [](const IntType& t, Int128 a, Int128 b, Int128) { return (low24(t, a) * low24(t, b)) >> 16; },
     only32},
    {"mad24.lo", 3,
     [](const IntType& t, Int128 a, Int128 b, Int128 c) { return low24(t, a) * low24(t, b) + c; },
     only32},
    {"mad24.hi", 3,
     [](const IntType& t, Int128 a, Int128 b, Int128 c) {
       return ((low24(t, a) * low24(t, b)) >> 16) + c;
     },
     only32},
    {"mad24.hi.sat", 3,
     [](const IntType& t, Int128 a, Int128 b, Int128 c) {
       return limited(t, ((low24(t, a) * low24(t, b)) >> 16) + c);
     },
     only_s32},
    {"sad", 3,
     [](const IntType&, Int128 a, Int128 b, Int128 c) { return c + larger(a - b, b - a); }, from16},
    {"div", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return b == 0 ? -1 : a / b; },
     from16, false, true},
    {"rem", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return b == 0 ? -1 : a % b; },
     from16, false, true},
    {"abs", 1, [](const IntType&, Int128 a, Int128, Int128) { return larger(a, -a); }, only_signed},
    {"neg", 1, [](const IntType&, Int128 a, Int128, Int128) { return -a; }, only_signed},
    {"min", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return smaller(a, b); }, from16},
    {"max", 2, [](const IntType&, Int128 a, Int128 b, Int128) { return larger(a, b); }, from16},
};

Case scalar_case(const Row& row, const IntType& t) {
  const IntType result{t.name, row.wide ? 2 * t.bits : t.bits, t.is_signed};
  Case c;
  c.text = std::string(row.name) + "." + t.name + " " + operands(row.sources) + ";";
  c.dst = {result.bits};
  for (int i = 0; i < row.sources; ++i)
    c.src.push_back({i == 2 ? result.bits : t.bits, Shape::Integer});
  const Fn fn = row.fn;
  const int sources = row.sources;
  c.want = [=](Values s, uint64_t* d) {
    d[0] = result.wrap(fn(t, t.value(s[0]), sources > 1 ? t.value(s[1]) : 0,
                          sources > 2 ? result.value(s[2]) : 0));
  };
  if (row.divides) c.defined = [=](Values s) { return t.value(s[1]) != 0; };
  return c;
}

struct PairRow {
  const char* text;
  bool is_signed;
  Int128 (*fn)(Int128, Int128);
};
const PairRow kPairRows[] = {
    {"add.u16x2", false, [](Int128 a, Int128 b) { return a + b; }},
    {"add.s16x2", true, [](Int128 a, Int128 b) { return a + b; }},
    {"min.u16x2", false, smaller},
    {"max.u16x2", false, larger},
    {"min.s16x2", true, smaller},
    {"max.s16x2", true, larger},
    {"min.relu.s16x2", true, [](Int128 a, Int128 b) { return larger(smaller(a, b), 0); }},
    {"max.relu.s16x2", true, [](Int128 a, Int128 b) { return larger(larger(a, b), 0); }},
};

void add_relu(std::vector<Case>& cases) {
  const IntType s32{"s32", 32, true};
  for (const bool is_max : {false, true}) {
    Case c;
    c.text = std::string(is_max ? "max" : "min") + ".relu.s32 " + operands(2) + ";";
    c.dst = {32};
    c.src = {{32, Shape::Integer}, {32, Shape::Integer}};
    c.sm = 90;
    c.want = [=](Values s, uint64_t* d) {
      const Int128 a = s32.value(s[0]), b = s32.value(s[1]);
      d[0] = s32.wrap(larger(is_max ? larger(a, b) : smaller(a, b), 0));
    };
    cases.push_back(c);
  }
}

/// A carry chain over three limbs: the last writes no flag.
void add_chain(std::vector<Case>& cases, int bits, bool subtract) {
  const std::string op = subtract ? "sub" : "add", type = "u" + std::to_string(bits);
  Case c;
  c.text = op + ".cc." + type + " $d0, $s0, $s1; " + op + "c.cc." + type + " $d1, $s2, $s3; " + op +
           "c." + type + " $d2, $s4, $s5;";
  c.dst = {bits, bits, bits};
  for (int i = 0; i < 6; ++i) c.src.push_back({bits, Shape::Integer});
  c.want = [=](Values s, uint64_t* d) {
    const IntType t{"", bits, false};
    Int128 carry = 0;
    for (int i = 0; i < 3; ++i) {
      const Int128 a = t.value(s[2 * i]), b = t.value(s[2 * i + 1]);
      const Int128 x = subtract ? a - b - carry : a + b + carry;
      d[i] = t.wrap(x);
      carry = x < 0 || x > t.high() ? 1 : 0;
    }
  };
  cases.push_back(c);
}

/// a * b + c over two limbs: mad.lo.cc, madc.hi.
void add_mad_chain(std::vector<Case>& cases, const IntType& t) {
  Case c;
  const std::string name = t.name;
  c.text = "mad.lo.cc." + name + " $d0, $s0, $s1, $s2; madc.hi.cc." + name +
           " $d1, $s0, $s1, $s3; madc.lo." + name + " $d2, $s0, $s1, $s2;";
  c.dst = {t.bits, t.bits, t.bits};
  for (int i = 0; i < 4; ++i) c.src.push_back({t.bits, Shape::Integer});
  c.want = [=](Values s, uint64_t* d) {
    const IntType u{"", t.bits, false};
    const auto step = [&](uint64_t product, uint64_t addend, Int128& carry) {
      const Int128 sum = u.value(product) + u.value(addend) + carry;
      carry = sum > u.high() ? 1 : 0;
      return u.wrap(sum);
    };
    const Int128 a = t.value(s[0]), b = t.value(s[1]);
    Int128 carry = 0;
    d[0] = step(u.wrap(times(a, b)), s[2], carry);
    d[1] = step(u.wrap(upper(t, a, b)), s[3], carry);
    d[2] = step(u.wrap(times(a, b)), s[2], carry);
  };
  cases.push_back(c);
}

}  // namespace

void add_integer_cases(std::vector<Case>& cases) {
  for (const Row& row : kRows)
    for (const IntType& t : kIntTypes)
      if (row.has(t)) cases.push_back(scalar_case(row, t));
  for (const PairRow& row : kPairRows) {
    Case c;
    c.text = std::string(row.text) + " " + operands(2) + ";";
    c.dst = {32};
    c.src = {{32, Shape::Integer}, {32, Shape::Integer}};
    c.sm = 90;
    const IntType t{"", 16, row.is_signed};
    const auto fn = row.fn;
    c.want = [=](Values s, uint64_t* d) {
      const uint64_t low = t.wrap(fn(t.value(s[0]), t.value(s[1])));
      d[0] = t.wrap(fn(t.value(s[0] >> 16), t.value(s[1] >> 16))) << 16 | low;
    };
    cases.push_back(c);
  }
  add_relu(cases);
  for (const int bits : {32, 64})
    for (const bool subtract : {false, true}) add_chain(cases, bits, subtract);
  for (const IntType& t : kIntTypes)
    if (t.bits >= 32) add_mad_chain(cases, t);
}

}  // namespace kw::alu_fuzz
