#include "cases.h"

namespace kw::alu_fuzz {
namespace {

using Op = std::function<Real(const Real*, Mode)>;
struct FloatRow {
  const char* name;
  int sources;
  Op op;
  int nan_order[3] = {0, 1, 2};  // which NaN operand an H200 passes on in f64
};

const FloatRow kArithmetic[] = {
    {"add", 2, [](const Real* x, Mode m) { return add(x[0], x[1], m); }, {1, 0, 2}},
    {"sub", 2, [](const Real* x, Mode m) { return add(x[0], negated(x[1]), m); }, {1, 0, 2}},
    {"mul", 2, [](const Real* x, Mode) { return mul(x[0], x[1]); }, {1, 0, 2}},
    {"fma", 3, [](const Real* x, Mode m) { return add(mul(x[0], x[1]), x[2], m); }, {1, 2, 0}},
};
const FloatRow kQuotients[] = {
    {"div", 2, [](const Real* x, Mode) { return div(x[0], x[1]); }},
    {"rcp", 1, [](const Real* x, Mode) { return div(from_integer(1), x[0]); }},
    {"sqrt", 1, [](const Real* x, Mode) { return sqrt(x[0]); }},
};

/// f64 keeps a NaN operand, made quiet; f32 and f16 have one NaN.
uint64_t nan_result(const Format& format, const uint64_t* s, const FloatRow& row) {
  if (!(format == kF64)) return format.nan;
  for (const int i : row.nan_order)
    if (i < row.sources && format.is_nan(s[i])) return s[i] | uint64_t(1) << 51;
  return format.nan;
}

/// Below the smallest normal number even when rounded with an exponent of any size: what .ftz
/// flushes. A subnormal has fewer bits, so rounding there may lift it to the smallest normal.
bool is_tiny(const Format& format, const Real& x, Mode mode) {
  if (x.kind != Real::Kind::Finite) return false;
  const Format unbounded{15, format.mantissa, 0};
  Real rounded = decode(unbounded, encode(unbounded, x, mode));
  rounded.negative = false;
  return compare(rounded, decode(format, format.smallest_normal())) < 0;
}

uint64_t evaluate(const FloatType& t, const FloatRow& row, const uint64_t* s, Mode mode, bool ftz,
                  bool sat) {
  Real x[3];
  uint64_t flat[3] = {};
  for (int i = 0; i < row.sources; ++i) {
    flat[i] = flushed(t.format, s[i], ftz);
    x[i] = decode(t.format, flat[i]);
  }
  const Real exact = row.op(x, mode);
  uint64_t result = exact.kind == Real::Kind::Nan ? nan_result(t.format, flat, row)
                                                  : encode(t.format, exact, mode);
  if (ftz && is_tiny(t.format, exact, mode)) result &= t.format.sign();
  return sat ? saturated(t.format, result) : result;
}

/// Which NaN an f64 operation gives is ours to choose; elsewhere there is only one.
std::function<bool(Values)> numeric_result(const std::function<void(Values, uint64_t*)>& want) {
  return [want](Values s) {
    uint64_t d[1] = {};
    want(s, d);
    return !kF64.is_nan(d[0]);
  };
}

/// Operands whose product (or quotient) is close to the smallest normal number, where flushing and
/// rounding meet.
void meet_smallest_normal(const Format& f, bool quotient, std::mt19937_64& random, uint64_t* s) {
  const auto fraction = [&] { return random() & (f.smallest_normal() - 1); };
  const uint64_t least = f.smallest_normal(), bias = static_cast<uint64_t>(f.bias());
  const uint64_t sign = (random() & 1) != 0 ? f.sign() : 0;
  const uint64_t exponent = 2 + random() % (bias - 3);
  const Real a = decode(f, exponent << f.mantissa | fraction());
  const Real bound = decode(f, least);
  const Real b = quotient ? mul(a, bound) : div(bound, a);
  const uint64_t nearest = encode(f, b, Mode::Nearest);
  s[0] = encode(f, a, Mode::Nearest) | sign;
  s[1] = nearest + random() % 5 - 2;
  if (quotient) std::swap(s[0], s[1]);
  s[2] = random() % 4 == 0 ? least + random() % 3 : 0;
}

/// An f32 result that only rounding to a subnormal lifts to the smallest normal number.
bool lifted(const FloatRow& row, Values s, Mode mode) {
  Real x[3];
  for (int i = 0; i < row.sources; ++i) x[i] = decode(kF32, flushed(kF32, s[i], true));
  const Real exact = row.op(x, mode);
  return is_tiny(kF32, exact, mode) &&
         (encode(kF32, exact, mode) & ~kF32.sign()) >= kF32.smallest_normal();
}

Case arithmetic_case(const FloatType& t, const FloatRow& row, const RoundName& round, bool ftz,
                     bool sat) {
  Case c;
  c.text = std::string(row.name) + "." + round.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") +
           "." + t.name + " " + operands(row.sources) + ";";
  c.dst = {t.bits};
  for (int i = 0; i < row.sources; ++i) c.src.push_back({t.bits, t.shape});
  c.want = [=](Values s, uint64_t* d) { d[0] = evaluate(t, row, s, round.mode, ftz, sat); };
  if (t.format == kF64) c.defined = numeric_result(c.want);
  const bool quotient = std::string(row.name) == "div";
  if (ftz && row.sources > 1)
    c.arrange = [f = t.format, quotient](std::mt19937_64& random, uint64_t* s) {
      meet_smallest_normal(f, quotient, random, s);
    };
  // Division is a sequence of instructions, with its own way around underflow.
  if (ftz && quotient) c.defined = [=](Values s) { return !lifted(row, s, round.mode); };
  return c;
}

void add_packed(std::vector<Case>& cases, const FloatRow& row, const RoundName& round, bool ftz) {
  Case c;
  c.text = std::string(row.name) + "." + round.name + (ftz ? ".ftz" : "") + ".f32x2 " +
           operands(row.sources) + ";";
  c.dst = {64};
  for (int i = 0; i < row.sources; ++i) c.src.push_back({64, Shape::F32x2});
  c.sm = 100;
  c.ptx = 86;
  c.want = [=](Values s, uint64_t* d) {
    d[0] = 0;
    for (int k = 0; k < 64; k += 32) {
      uint64_t part[3] = {};
      for (int i = 0; i < row.sources; ++i) part[i] = s[i] >> k & 0xffffffff;
      d[0] |= evaluate(kFloat32, row, part, round.mode, ftz, false) << k;
    }
  };
  cases.push_back(c);
}

/// min and max of one pair: -0 is below +0.
uint64_t extreme(const Format& f, uint64_t a, uint64_t b, bool is_max, bool propagate) {
  const bool nan_a = f.is_nan(a), nan_b = f.is_nan(b);
  if ((nan_a && nan_b) || (propagate && (nan_a || nan_b)))
    return f == kF64 ? b | uint64_t(1) << 51 : f.nan;
  if (nan_a) return b;
  if (nan_b) return a;
  const int order = compare(decode(f, a), decode(f, b));
  const bool a_less = order < 0 || (order == 0 && (a & f.sign()) != 0);
  return a_less != is_max ? a : b;
}

void add_extremes(std::vector<Case>& cases, const FloatType& t, bool ftz, bool propagate,
                  bool magnitudes, int sources) {
  const bool xorsign = magnitudes && sources == 2;
  for (const bool is_max : {false, true}) {
    Case c;
    c.text = std::string(is_max ? "max" : "min") + (ftz ? ".ftz" : "") + (propagate ? ".NaN" : "") +
             (xorsign      ? ".xorsign.abs"
              : magnitudes ? ".abs"
                           : "") +
             "." + t.name + " " + operands(sources) + ";";
    c.dst = {t.bits};
    for (int i = 0; i < sources; ++i) c.src.push_back({t.bits, t.shape});
    c.sm = sources == 3 ? 100 : xorsign ? 86 : 80;
    c.ptx = sources == 3 ? 88 : 80;
    c.want = [=](Values s, uint64_t* d) {
      const Format& f = t.format;
      const uint64_t clear = magnitudes ? f.sign() - 1 : ~uint64_t(0);
      uint64_t result = flushed(f, s[0], ftz) & clear;
      for (int i = 1; i < sources; ++i)
        result = extreme(f, result, flushed(f, s[i], ftz) & clear, is_max, propagate);
      if (xorsign && !f.is_nan(result)) result |= (s[0] ^ s[1]) & f.sign();
      d[0] = result;
    };
    if (t.format == kF64) c.defined = numeric_result(c.want);
    cases.push_back(c);
  }
}

/// abs or neg. Which NaN they give is open; in hardware they are additions.
uint64_t signed_as(const Format& f, uint64_t x, bool is_abs) {
  if (f.is_nan(x)) return f == kF64 ? x | uint64_t(1) << 51 : f.nan;
  return is_abs ? x & (f.sign() - 1) : x ^ f.sign();
}

void add_signs(std::vector<Case>& cases, const FloatType& t, bool ftz) {
  for (const bool is_abs : {false, true}) {
    Case c;
    c.text = std::string(is_abs ? "abs" : "neg") + (ftz ? ".ftz" : "") + "." + t.name + " " +
             operands(1) + ";";
    c.dst = {t.bits};
    c.src = {{t.bits, t.shape}};
    const Format f = t.format;
    c.want = [=](Values s, uint64_t* d) { d[0] = signed_as(f, flushed(f, s[0], ftz), is_abs); };
    c.defined = [=](Values s) { return !f.is_nan(s[0]); };
    cases.push_back(c);
  }
}

void add_copysign(std::vector<Case>& cases, const FloatType& t) {
  Case c;
  c.text = std::string("copysign.") + t.name + " " + operands(2) + ";";
  c.dst = {t.bits};
  c.src = {{t.bits, t.shape}, {t.bits, t.shape}};
  const Format f = t.format;
  c.want = [=](Values s, uint64_t* d) { d[0] = (s[0] & f.sign()) | (s[1] & (f.sign() - 1)); };
  cases.push_back(c);
}

void add_tests(std::vector<Case>& cases, const FloatType& t) {
  const Format f = t.format;
  const auto magnitude = [=](uint64_t x) { return x & (f.sign() - 1); };
  const std::pair<const char*, std::function<bool(uint64_t)>> kTests[] = {
      {"finite", [=](uint64_t x) { return magnitude(x) < f.infinity(); }},
      {"infinite", [=](uint64_t x) { return magnitude(x) == f.infinity(); }},
      {"number", [=](uint64_t x) { return !f.is_nan(x); }},
      {"notanumber", [=](uint64_t x) { return f.is_nan(x); }},
      {"normal",
       [=](uint64_t x) {
         return magnitude(x) == 0 ||  // PTX counts zero as normal
                (magnitude(x) >= f.smallest_normal() && magnitude(x) < f.infinity());
       }},
      {"subnormal", [=](uint64_t x) { return f.is_subnormal(x); }},
  };
  for (const auto& [name, test] : kTests) {
    Case c;
    c.text = std::string("testp.") + name + "." + t.name + " " + operands(1) + ";";
    c.dst = {1};
    c.src = {{t.bits, t.shape}};
    c.want = [test = test](Values s, uint64_t* d) { d[0] = test(s[0]) ? 1 : 0; };
    cases.push_back(c);
  }
}

}  // namespace

void add_float_cases(std::vector<Case>& cases) {
  for (const RoundName& round : kRounds) {
    for (const FloatRow& row : kArithmetic) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true})
          cases.push_back(arithmetic_case(kFloat32, row, round, ftz, sat));
        add_packed(cases, row, round, ftz);
      }
      cases.push_back(arithmetic_case(kFloat64, row, round, false, false));
    }
    for (const FloatRow& row : kQuotients) {
      for (const bool ftz : {false, true})
        cases.push_back(arithmetic_case(kFloat32, row, round, ftz, false));
      cases.push_back(arithmetic_case(kFloat64, row, round, false, false));
    }
  }
  for (const bool ftz : {false, true}) {
    for (const bool propagate : {false, true}) {
      for (const bool magnitudes : {false, true})
        for (const int sources : {2, 3})
          add_extremes(cases, kFloat32, ftz, propagate, magnitudes, sources);
    }
    add_signs(cases, kFloat32, ftz);
  }
  add_extremes(cases, kFloat64, false, false, false, 2);
  add_signs(cases, kFloat64, false);
  for (const FloatType& t : {kFloat32, kFloat64}) {
    add_copysign(cases, t);
    add_tests(cases, t);
  }
}

// f16 and bf16: the same arithmetic on one value or on both halves of a register.
namespace {

struct HalfForm {
  const FloatType& type;
  bool pair;
  std::string name() const { return std::string(type.name) + (pair ? "x2" : ""); }
  int bits() const { return pair ? 32 : 16; }
  Shape shape() const {
    if (!pair) return type.shape;
    return type.format == kF16 ? Shape::F16x2 : Shape::Bf16x2;
  }
};
constexpr HalfForm kHalfForms[] = {
    {kFloat16, false}, {kFloat16, true}, {kFloatBf16, false}, {kFloatBf16, true}};

using HalfFn = std::function<uint64_t(const uint64_t*)>;
Case half_case(const HalfForm& form, const std::string& op, int sources, const HalfFn& fn) {
  Case c;
  c.text = op + "." + form.name() + " " + operands(sources) + ";";
  c.dst = {form.bits()};
  for (int i = 0; i < sources; ++i) c.src.push_back({form.bits(), form.shape()});
  const int parts = form.pair ? 2 : 1;
  c.want = [=](Values s, uint64_t* d) {
    d[0] = 0;
    for (int k = 0; k < parts; ++k) {
      uint64_t part[3] = {};
      for (int i = 0; i < sources; ++i) part[i] = s[i] >> (16 * k) & 0xffff;
      d[0] |= fn(part) << (16 * k);
    }
  };
  return c;
}

void add_half_arithmetic(std::vector<Case>& cases, const HalfForm& form, const FloatRow& row) {
  const FloatType t = form.type;
  const bool is_f16 = t.format == kF16, is_fma = row.sources == 3;
  for (const bool ftz : {false, true}) {
    for (int clamp = 0; clamp < 3; ++clamp) {  // none, sat, relu
      if ((ftz || clamp == 1) && !is_f16) continue;
      if (clamp == 2 && !is_fma) continue;
      const std::string op = std::string(row.name) + (is_fma || !is_f16 ? ".rn" : "") +
                             (ftz ? ".ftz" : "") +
                             (clamp == 1   ? ".sat"
                              : clamp == 2 ? ".relu"
                                           : "");
      Case c = half_case(form, op, row.sources, [=](const uint64_t* s) {
        const uint64_t x = evaluate(t, row, s, Mode::Nearest, ftz, clamp == 1);
        return clamp == 2 ? rectified(t.format, x) : x;
      });
      if (!is_f16 && !is_fma) c.sm = 90;
      if (ftz)
        c.arrange = [=](std::mt19937_64& random, uint64_t* sources) {
          uint64_t low[3] = {};
          meet_smallest_normal(kF16, false, random, low);
          for (int i = 0; i < row.sources; ++i) sources[i] = (sources[i] & ~0xffffull) | low[i];
        };
      cases.push_back(c);
    }
  }
}

void add_half_extremes(std::vector<Case>& cases, const HalfForm& form, bool ftz, bool propagate,
                       bool xorsign) {
  const Format f = form.type.format;
  for (const bool is_max : {false, true}) {
    const std::string op = std::string(is_max ? "max" : "min") + (ftz ? ".ftz" : "") +
                           (propagate ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "");
    Case c = half_case(form, op, 2, [=](const uint64_t* s) {
      const uint64_t clear = xorsign ? f.sign() - 1 : ~uint64_t(0);
      const uint64_t x = extreme(f, flushed(f, s[0], ftz) & clear, flushed(f, s[1], ftz) & clear,
                                 is_max, propagate);
      return xorsign && !f.is_nan(x) ? x | ((s[0] ^ s[1]) & f.sign()) : x;
    });
    c.sm = xorsign ? 86 : 80;
    cases.push_back(c);
  }
}

void add_half_signs(std::vector<Case>& cases, const HalfForm& form, bool ftz) {
  const Format f = form.type.format;
  for (const bool is_abs : {false, true}) {
    Case c =
        half_case(form, std::string(is_abs ? "abs" : "neg") + (ftz ? ".ftz" : ""), 1,
                  [=](const uint64_t* s) { return signed_as(f, flushed(f, s[0], ftz), is_abs); });
    c.defined = [=](Values s) {
      return !f.is_nan(s[0] & 0xffff) && !f.is_nan(s[0] >> 16 & 0xffff);
    };
    cases.push_back(c);
  }
}

/// add, sub and fma with f16 or bf16 sources and an f32 addend and result.
void add_mixed(std::vector<Case>& cases, const FloatType& half, const FloatRow& row,
               const RoundName& round, bool sat) {
  Case c;
  c.text = std::string(row.name) + "." + round.name + (sat ? ".sat" : "") + ".f32." + half.name +
           " " + operands(row.sources) + ";";
  c.dst = {32};
  for (int i = 0; i + 1 < row.sources; ++i) c.src.push_back({16, half.shape});
  c.src.push_back({32, Shape::F32});
  c.sm = 100;
  c.ptx = 86;
  c.want = [=](Values s, uint64_t* d) {
    Real x[3];
    for (int i = 0; i < row.sources; ++i)
      x[i] = decode(i + 1 == row.sources ? kF32 : half.format, s[i]);
    const uint64_t result = encode(kF32, row.op(x, round.mode), round.mode);
    d[0] = sat ? saturated(kF32, result) : result;
  };
  cases.push_back(c);
}

}  // namespace

void add_half_cases(std::vector<Case>& cases) {
  for (const HalfForm& form : kHalfForms) {
    for (const FloatRow& row : kArithmetic) add_half_arithmetic(cases, form, row);
    for (const bool ftz : {false, true}) {
      if (ftz && form.type.format == kBf16) continue;
      for (const bool propagate : {false, true})
        for (const bool xorsign : {false, true})
          add_half_extremes(cases, form, ftz, propagate, xorsign);
      add_half_signs(cases, form, ftz);
    }
  }
  for (const FloatType& half : {kFloat16, kFloatBf16})
    for (const FloatRow& row : kArithmetic)
      for (const RoundName& round : kRounds)
        for (const bool sat : {false, true})
          if (std::string(row.name) != "mul") add_mixed(cases, half, row, round, sat);
}

}  // namespace kw::alu_fuzz
