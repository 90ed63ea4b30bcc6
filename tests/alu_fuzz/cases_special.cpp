// The approximate functions: results may be anything within the error the ISA states, special
// values are exact.
#include <bit>
#include <cmath>

#include "cases.h"

namespace kw::alu_fuzz {
namespace {

long double value32(uint64_t raw) { return std::bit_cast<float>(static_cast<uint32_t>(raw)); }

/// How far a result may be from the exact value: relative, absolute, or both allowed.
struct Limit {
  long double relative = 0, absolute = 0;
};

/// Within the limit of `exact`; results that may be subnormal are allowed one step of the format,
/// flushed ones zero.
bool near(const Format& f, uint64_t got, long double exact, Limit limit, bool ftz) {
  const long double tiny = std::ldexp(1.0L, 1 - f.bias());
  const long double step = std::ldexp(1.0L, 1 - f.bias() - f.mantissa);
  const long double largest = std::ldexp(2.0L - std::ldexp(1.0L, -f.mantissa), f.bias());
  if (std::isnan(exact)) return f.is_nan(got);
  const uint64_t magnitude = got & (f.sign() - 1);
  if (f.is_nan(got)) return false;
  const bool negative = (got & f.sign()) != 0;
  if (magnitude == f.infinity())
    return std::isinf(exact) ? std::signbit(exact) == negative
                             : std::fabs(exact) * (1 + limit.relative) >= largest &&
                                   std::signbit(exact) == negative;
  const Real real = decode(f, got);
  const long double value =
      std::ldexp(static_cast<long double>(real.n.low()), real.e) * (negative ? -1 : 1);
  if (exact == 0) return value == 0 || std::fabs(value) <= limit.absolute;
  if (std::isinf(exact)) return false;
  if (ftz && std::fabs(exact) < tiny * (1 + limit.relative) && value == 0) return true;
  const long double allowed =
      std::fabs(exact) * limit.relative + limit.absolute + (std::fabs(exact) < 2 * tiny ? step : 0);
  return std::fabs(value - exact) <= allowed;
}

using Exact = long double (*)(long double);
using LimitAt = Limit (*)(long double);

void add_f32(
    std::vector<Case>& cases, const char* name, Exact exact, LimitAt limit,
    bool (*defined)(long double) = [](long double) { return true; }) {
  for (const bool ftz : {false, true}) {
    Case c;
    c.text = std::string(name) + ".approx" + (ftz ? ".ftz" : "") + ".f32 $d0, $s0;";
    c.dst = {32};
    c.src = {{32, Shape::F32}};
    c.accepts = [=](Values s, int, uint64_t got) {
      const long double x = value32(flushed(kF32, s[0], ftz));
      return near(kF32, got, exact(x), limit(x), ftz);
    };
    c.defined = [=](Values s) { return defined(value32(s[0])); };
    cases.push_back(c);
  }
}

bool inside(long double x, long double limit) {
  return std::isnan(x) || std::isinf(x) || std::fabs(x) <= limit;
}

void add_half(std::vector<Case>& cases, const char* name, const FloatType& t, Exact exact,
              Limit limit, bool ftz, int sm) {
  for (const bool pair : {false, true}) {
    Case c;
    c.text = std::string(name) + ".approx" + (ftz ? ".ftz" : "") + "." + t.name +
             (pair ? "x2" : "") + " $d0, $s0;";
    c.dst = {pair ? 32 : 16};
    c.src = {{pair ? 32 : 16, pair ? (t.format == kF16 ? Shape::F16x2 : Shape::Bf16x2) : t.shape}};
    c.sm = sm;
    c.accepts = [=](Values s, int, uint64_t got) {
      for (int k = 0; k < (pair ? 32 : 16); k += 16) {
        const uint64_t raw = flushed(t.format, s[0] >> k & 0xffff, ftz);
        const Real real = decode(t.format, raw);
        long double x = std::ldexp(static_cast<long double>(real.n.low()), real.e);
        if (real.kind == Real::Kind::Infinite) x = INFINITY;
        if (real.kind == Real::Kind::Nan) x = NAN;
        if (real.negative) x = -x;
        if (!near(t.format, got >> k & 0xffff, exact(x), limit, ftz)) return false;
      }
      return true;
    };
    cases.push_back(c);
  }
}

void add_division(std::vector<Case>& cases, const char* kind) {
  const bool full = std::string(kind) == "full";
  for (const bool ftz : {false, true}) {
    Case c;
    c.text = std::string("div.") + kind + (ftz ? ".ftz" : "") + ".f32 $d0, $s0, $s1;";
    c.dst = {32};
    c.src = {{32, Shape::F32}, {32, Shape::F32}};
    c.accepts = [=](Values s, int, uint64_t got) {
      const long double a = value32(flushed(kF32, s[0], ftz)),
                        b = value32(flushed(kF32, s[1], ftz));
      const long double huge = std::fabs(b);
      if (!full && huge > 0x1p126L && !std::isinf(b))
        return near(kF32, got, a * std::copysign(0.0L, b), {}, ftz);
      return near(kF32, got, a / b, {0x1p-22L, 0}, ftz);  // two units in the last place
    };
    // The approximate form multiplies by the reciprocal: stated only where that is a normal number.
    c.defined = [=](Values s) {
      const long double b = std::fabs(value32(s[1]));
      return full || std::isnan(b) || std::isinf(b) || b == 0 || b >= 0x1p-126L;
    };
    cases.push_back(c);
  }
}

/// The f64 seeds: from the upper word only (a NaN whose payload lies below is an infinity), 20
/// mantissa bits, lower word zero.
void add_seed(std::vector<Case>& cases, const char* name, Exact exact) {
  Case c;
  c.text = std::string(name) + ".approx.ftz.f64 $d0, $s0;";
  c.dst = {64};
  c.src = {{64, Shape::F64}};
  c.accepts = [=](Values s, int, uint64_t got) {
    const uint64_t upper = flushed(kF64, s[0] & 0xffffffff00000000, true);
    const long double x = std::bit_cast<double>(upper);
    const long double want = exact(x);
    if ((got & 0xffffffff) != 0) return false;
    return near(kF64, got, want, {0x1p-19L, 0}, true);
  };
  cases.push_back(c);
}

}  // namespace

void add_special_cases(std::vector<Case>& cases) {
  add_f32(
      cases, "ex2", [](long double x) { return std::exp2(x); },
      [](long double) {
        return Limit{0x1p-22L, 0};
      });
  add_f32(
      cases, "lg2", [](long double x) { return std::log2(x); },
      [](long double x) {
        return x > 0.5L && x < 2.0L ? Limit{0, 0x1p-22L} : Limit{0x1p-22L, 0};
      });
  add_f32(
      cases, "rcp", [](long double x) { return 1 / x; },
      [](long double) {
        return Limit{0x1p-23L, 0};
      });
  add_f32(
      cases, "sqrt", [](long double x) { return std::sqrt(x); },
      [](long double) {
        return Limit{0x1p-23L, 0};
      });
  add_f32(
      cases, "rsqrt", [](long double x) { return 1 / std::sqrt(x); },
      [](long double) {
        return Limit{0x1.5p-23L, 0};
      });
  const auto turn_limit = [](long double x) {
    return Limit{0, std::fabs(x) <= 6.2831853L ? 0x1.6bp-21L : 0x1.3ap-15L};
  };
  const auto within_hundred = [](long double x) { return inside(x, 314.159L); };
  add_f32(
      cases, "sin", [](long double x) { return std::sin(x); }, turn_limit, within_hundred);
  add_f32(
      cases, "cos", [](long double x) { return std::cos(x); }, turn_limit, within_hundred);
  add_f32(
      cases, "tanh", [](long double x) { return std::tanh(x); },
      [](long double) {
        return Limit{0x1.03p-11L, 0};
      });
  std::erase_if(cases, [](const Case& c) {
    return c.text.rfind("tanh.approx.ftz", 0) == 0;
  });  // PTX has no such form
  add_half(
      cases, "ex2", kFloat16, [](long double x) { return std::exp2(x); }, {0x1.13p-10L, 0}, false,
      80);
  add_half(
      cases, "ex2", kFloatBf16, [](long double x) { return std::exp2(x); }, {0x1p-7L, 0}, true, 90);
  add_half(
      cases, "tanh", kFloat16, [](long double x) { return std::tanh(x); }, {0, 0x1.03p-11L}, false,
      80);
  add_half(
      cases, "tanh", kFloatBf16, [](long double x) { return std::tanh(x); }, {0, 0x1.001p-8L},
      false, 90);  // stated as 2^-8; an H200 errs by 1.00007 times that at 0.746
  for (const char* kind : {"approx", "full"}) add_division(cases, kind);
  add_seed(cases, "rcp", [](long double x) { return 1 / x; });
  add_seed(cases, "rsqrt", [](long double x) { return 1 / std::sqrt(x); });
}

}  // namespace kw::alu_fuzz
