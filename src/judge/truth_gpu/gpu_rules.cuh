// What kernels of large truths call: the shared rules of src/judge/truth applied to one element,
// and what only devices have. It follows special.h, rules.h, sum_rules.h and jump_rules.h; the rows
// of the op table and generated kernels follow it.

using namespace kw::ops;
using namespace kw::truth;
typedef long long Int;

constexpr unsigned kOutOfRange = 1, kJumps = 2, kMistake = 4, kUnbounded = 8;

enum Format { kNone, kFp16, kBf16, kE4m3, kE5m2, kFp32 };

// All that does not change from element to element.
struct Spec {
  bool truth;       // else only t is computed, and rounded to `settles`
  bool a, h, same;  // errors carried; one operand given twice
  Format settles;
  Rounding r;
  OpErrors own;
  double joins_x, joins_z;
};

KW_HD double reach(const TrackedValue& x) { return reach(x.a, x.h); }

// --- formats -----------------------------------------------------------------------------------

// Adds a number whose steps are as coarse as the format's.
KW_HD double round_steps(double x, int bits, int least, double largest, bool has_infinity) {
  const double m = fabs(x);
  if (!(m <= kLargest)) return has_infinity || m != m ? x : not_a_number();
  const double floor_power = __longlong_as_double((Int)(1023 + least) << 52);
  const double power = __longlong_as_double(__double_as_longlong(m) & 0x7ff0000000000000LL);
  const double step = larger(power, floor_power) * (2.0 / (double)(1 << bits));
  const double coarse = 0x1.8p52 * step;
  const double y = __dsub_rn(__dadd_rn(m, coarse), coarse);
  if (y > largest) return has_infinity ? copysign(infinity(), x) : not_a_number();
  return copysign(y, x);
}

KW_HD double rounded(Format format, double x) {
  switch (format) {
    case kFp16:
      return round_steps(x, 11, -14, 65504, true);
    case kBf16:
      return round_steps(x, 8, -126, 0x1.fep127, true);
    case kE4m3:
      return round_steps(x, 4, -6, 448, false);
    case kE5m2:
      return round_steps(x, 3, -14, 57344, true);
    case kFp32:
      return (double)(float)x;
    default:
      return x;
  }
}

KW_HD double from_fp16(unsigned bits) {
  const unsigned special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  const float scaled = __uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f;
  return __uint_as_float(__float_as_uint(scaled) | special | (bits & 0x8000u) << 16);
}
KW_HD double from_bf16(unsigned bits) { return __uint_as_float(bits << 16); }
KW_HD double from_e5m2(unsigned bits) { return from_fp16(bits << 8); }
KW_HD double from_e4m3(unsigned bits) {
  if ((bits & 0x7fu) == 0x7fu) return not_a_number();
  const float scaled = __uint_as_float((bits & 0x7fu) << 20) * 0x1p120f;
  return __uint_as_float(__float_as_uint(scaled) | (bits & 0x80u) << 24);
}

// --- functions of one argument -----------------------------------------------------------------

// An op's own rounding.
KW_HD TrackedValue finish(TrackedValue y, const Spec& s, unsigned& found) {
  if (!s.truth) return {rounded(s.settles, y.t), 0, 0};
  // An operand's error is infinite next to a pole; the op's own rounding makes it so by overflow.
  const bool pole = !((!s.a || y.a <= kLargest) && (!s.h || y.h <= kLargest));
  y.a = s.a ? with_path_rounding(y.t, y.a, s.r, s.own) : 0;
  y.h = s.h ? with_half_rounding(y.t, y.h, s.r) : 0;
  if (!(y.a <= kLargest && y.h <= kLargest)) found |= pole ? kUnbounded : kOutOfRange;
  return y;
}

template <class F>
KW_HD TrackedValue unary(const TrackedValue& x, const Spec& s) {
  TrackedValue y = {F::at(x.t), 0, 0};
  if (!s.truth || !(s.a || s.h)) return y;
  const double e = argument_error(x.t, x.a, s.own.argument * s.r.unit);
  bool rough = true;
  if (F::has_slope) {
    const double d = F::slope(x.t, y.t);
    rough = is_rough(x.t, d, e, x.h);
    y.a = d * e;
    y.h = d * x.h;
  }
  if (!rough) return y;
  const auto f = [](double v) { return F::at(v); };
  const auto moved = [&](double by) {
    return error_between(F::between, f, x.t, y.t, by);
  };
  y.a = s.a ? moved(kPathFactor * e) / kPathFactor : 0;
  y.h = s.h ? moved(x.h) : 0;
  return y;
}

// --- functions of two --------------------------------------------------------------------------

KW_HD TrackedValue add(const TrackedValue& x, const TrackedValue& z, double sign, const Spec& s,
                       unsigned& found) {
  // A kernel may start the sum with what is added to it, and leave the range.
  const double terms = magnitudes_within(x.a + z.a, s.r.unit);
  const bool joins = s.truth && s.a && s.joins_x + s.joins_z > 0;
  if (joins && !(fabs(x.t) + fabs(z.t) + terms <= s.r.limit)) found |= kOutOfRange;
  const bool cancels = s.same && sign < 0;
  const double joined = joined_error(x.t, z.t, s.joins_x, s.joins_z, s.r.unit);
  return {exact_add(x.t, sign * z.t), sum_error(cancels, x.a, z.a) + (s.a ? joined : 0),
          sum_error(cancels, x.h, z.h)};
}

KW_HD TrackedValue mul(const TrackedValue& x, const TrackedValue& z, const Spec& s) {
  TrackedValue y = {exact_mul(x.t, z.t), 0, 0};
  if (s.truth && s.a) y.a = product_error(x.t, z.t, x.a, z.a, 4);
  if (s.truth && s.h) y.h = product_error(x.t, z.t, x.h, z.h, 1);
  return y;
}

KW_HD double divided_error(bool same, double x, double z, double y, double ex, double ez,
                           double factor) {
  if (same) return ratio_error(z, ex, factor);
  if (!is_rough_divisor(z, ez)) return quotient_error(z, y, ex, ez);
  return worst_quotient(x, factor * ex, z, factor * ez, y) / factor;
}
KW_HD TrackedValue divide(const TrackedValue& x, const TrackedValue& z, const Spec& s) {
  TrackedValue y = {exact_div(x.t, z.t), 0, 0};
  if (s.truth && s.a)
    y.a = divided_error(s.same, x.t, z.t, y.t, x.a, z.a, kPathFactor);
  if (s.truth && s.h) y.h = divided_error(s.same, x.t, z.t, y.t, x.h, z.h, 1);
  return y;
}

KW_HD TrackedValue choose(const TrackedValue& x, const TrackedValue& z, double sign, bool nan_wins,
                          const Spec& s) {
  const double p = seen(x.t, sign, nan_wins), q = seen(z.t, sign, nan_wins);
  TrackedValue y = {picked(x.t, z.t, sign, nan_wins), 0, 0};
  if (s.truth && s.a) y.a = choice_error(p, q, sign * y.t, x.a, z.a);
  // The sum of both errors may make a value the larger one when neither does alone.
  if (s.truth && s.h) y.h = choice_error(p, q, sign * y.t, reach(x), reach(z));
  return y;
}

KW_HD TrackedValue power(const TrackedValue& x, const TrackedValue& z, const Spec& s) {
  return power_of(x, z, s.r, s.truth && s.a, s.truth && s.h);
}

template <class F>
KW_HD TrackedValue binary(const TrackedValue& x, const TrackedValue& z, bool turns, const Spec& s,
                          unsigned& found) {
  const auto f = [](double v, double w) { return F::at(v, w); };
  TrackedValue y = {f(x.t, z.t), 0, 0};
  if (s.truth && turns && may_turn(x.t, z.t, reach(x), reach(z))) found |= kJumps;
  if (s.truth && s.a)
    y.a = tried_error(f, x.t, z.t, y.t, kPathFactor * x.a, kPathFactor * z.a) /
          kPathFactor;
  if (s.truth && s.h) y.h = tried_error(f, x.t, z.t, y.t, x.h, z.h);
  return y;
}

KW_HD TrackedValue copy_sign(const TrackedValue& x, const TrackedValue& z, const Spec& s,
                             unsigned& found) {
  if (s.truth && may_change_sign(z.t, reach(z)) && x.t != 0) found |= kJumps;
  return {copysign(x.t, z.t), x.a, x.h};
}

// --- copies and integers -----------------------------------------------------------------------

// Integers a format can hold are exact.
KW_HD TrackedValue cast(double t, Format to, double to_unit, const Spec& s) {
  TrackedValue y = {t, 0, 0};
  if (s.a) y.a = rounded(kFp32, t) == t ? 0 : s.r.unit * fabs(t);
  if (s.h) y.h = rounded(to, t) == t ? 0 : to_unit * fabs(t);
  return y;
}

// A cast that the program computes with. What lies beyond the format is for the interpreter.
KW_HD TrackedValue snap(const TrackedValue& x, Format to, double limit, unsigned& found) {
  if (!(fabs(x.t) + reach(x) <= limit)) found |= kOutOfRange;
  return {rounded(to, x.t), 0, 0};
}

// The interpreter refuses a division by zero.
KW_HD Int floor_divide(Int x, Int z, unsigned& found) {
  if (z == 0) found |= kMistake;
  return floor_quotient(x, z == 0 ? 1 : z);
}
KW_HD Int remain(Int x, Int z, unsigned& found) {
  if (z == 0) found |= kMistake;
  return floor_rest(x, z == 0 ? 1 : z);
}

// --- reductions --------------------------------------------------------------------------------

struct FoldSpec {
  bool truth, in_a, in_h, out_a, out_h;
  double sign;  // of Max and Min
  double count, chain;
  Format settles;
  Rounding r;
};

struct Sum : Summed {
  KW_HD void start(const FoldSpec&) { t = size = a = squares = 0; }
  KW_HD void add(const TrackedValue& x, const FoldSpec& f) {
    t = exact_add(t, x.t);
    if (!f.truth) return;
    size += finite_magnitude(x.t);
    a += x.a;
    squares += x.h * x.h;
  }
  KW_HD void merge(const Sum& later, const FoldSpec&) {
    t = exact_add(t, later.t);
    size += later.size;
    a += later.a;
    squares += later.squares;
  }
  KW_HD TrackedValue result(const FoldSpec& f) const {
    return f.truth ? sum_result(*this, f.count, f.chain, f.r)
                   : TrackedValue{rounded(f.settles, t), 0, 0};
  }
};

// The largest value (of the negated ones, for Min), and the largest ends of what values may be.
struct Choice {
  double t, up_a, down_a, up_h, down_h;
  KW_HD void start(const FoldSpec&) { t = up_a = down_a = up_h = down_h = -infinity(); }
  KW_HD void add(const TrackedValue& x, const FoldSpec& f) {
    const double v = f.sign * x.t;
    if (v != v) t = v;
    t = v > t ? v : t;
    if (!f.truth) return;
    if (f.in_a) {
      up_a = larger(upper_end(v, x.a), up_a);
      down_a = larger(v - x.a, down_a);
    }
    if (f.in_h) {
      const double both = reach(f.in_a ? x.a : 0, x.h);
      up_h = larger(upper_end(v, both), up_h);
      down_h = larger(v - both, down_h);
    }
  }
  KW_HD void merge(const Choice& later, const FoldSpec&) {
    if (later.t != later.t) t = later.t;
    t = later.t > t ? later.t : t;
    up_a = larger(later.up_a, up_a);
    down_a = larger(later.down_a, down_a);
    up_h = larger(later.up_h, up_h);
    down_h = larger(later.down_h, down_h);
  }
  KW_HD TrackedValue result(const FoldSpec& f) const {
    TrackedValue y = {f.sign * t, 0, 0};
    if (f.truth && f.in_a) y.a = spread_of(t, up_a, down_a);
    if (f.truth && f.in_h) y.h = spread_of(t, up_h, down_h);
    return y;
  }
};

// Every group of kLanes neighbouring threads adds its states up in the first of them.
template <int kThreads, int kLanes, class State>
KW_HD void gather(State* states, const State& own, const FoldSpec& f) {
  const int lane = threadIdx.x % kLanes;
  states[threadIdx.x] = own;
  for (int width = kLanes / 2; width > 0; width /= 2) {
    __syncthreads();
    if (lane < width) states[threadIdx.x].merge(states[threadIdx.x + width], f);
  }
}

// --- scans -------------------------------------------------------------------------------------

// Every thread's state becomes that of all threads up to it. `add(to, later)` joins two.
template <int kThreads, class State, class Add>
KW_HD void scan_block(State* states, const State& own, Add add) {
  __syncthreads();
  states[threadIdx.x] = own;
  for (int away = 1; away < kThreads; away *= 2) {
    __syncthreads();
    State joined = states[threadIdx.x];
    if ((int)threadIdx.x >= away) {
      joined = states[threadIdx.x - away];
      add(joined, states[threadIdx.x]);
    }
    __syncthreads();
    states[threadIdx.x] = joined;
  }
  __syncthreads();
}

KW_HD TrackedValue scanned(const Sum& s, double passed, double count, const FoldSpec& f) {
  if (!f.truth) return {rounded(f.settles, s.t), 0, 0};
  const TrackedValue y = scan_result(s, count, passed, f.r);
  return {y.t, f.out_a ? y.a : 0, f.out_h ? y.h : 0};
}

KW_HD void look_for_infinity(const TrackedValue& y, unsigned& found) {
  if (!(y.a < infinity() && y.h < infinity())) found |= kOutOfRange;
}

// --- products ----------------------------------------------------------------------------------

struct ProductSpec {
  bool truth, errors, tf32, flush;  // errors: whether a factor carries some
  Format settles;
  Rounding r;
};

// Not infinite and not unknown, or nothing.
KW_HD double known(double bound) { return bound <= kLargest ? bound : 0; }

struct Product {
  double t, size, errors, squares, cut;
  double left, right;  // factors that are not certainly zero
  bool open;           // some error is infinite
  KW_HD void start() {
    t = size = errors = squares = cut = left = right = 0;
    open = false;
  }
  KW_HD void add(const TrackedValue& x, const TrackedValue& z, const ProductSpec& f) {
    t = fma(x.t, z.t, t);
    if (!f.truth) return;
    const double mx = finite_magnitude(x.t), mz = finite_magnitude(z.t);
    size += mx * mz;
    left += x.t == 0 && x.a == 0 && x.h == 0 ? 0 : 1;
    right += z.t == 0 && z.a == 0 && z.h == 0 ? 0 : 1;
    const double half_z = fabs(z.t) + z.h, both = known(half_z * half_z);
    if (f.tf32) cut += known(x.t * x.t) * both;
    if (!f.errors) return;
    errors += known(x.a) * known(fabs(z.t) + 4 * z.a) + mx * known(z.a);
    squares += known(x.h * x.h) * both + known(x.t * x.t) * known(z.h * z.h);
    if (x.h > 0 && z.h > 0) squares += known(2 * fabs(x.t) * x.h) * known(half_z * z.h);
    const double all = x.a + x.h + z.a + z.h;
    open = open || all == infinity();
  }
  KW_HD TrackedValue result(const ProductSpec& f) const {
    if (!f.truth) return {rounded(f.settles, t), 0, 0};
    const bool unknown = open || size > f.r.limit;
    if (!(fabs(t) <= kLargest) && !unknown && !f.errors) return {t, 0, 0};
    const double n = left < right ? left : right;
    return product_result({t, size, errors, squares}, n, sqrt(n), cut, f.tf32, f.flush, unknown,
                          f.r);
  }
};

// --- the functions themselves ------------------------------------------------------------------

// What a row of table.def need not say. The rows follow.
struct Function {
  static constexpr bool has_slope = false;
  static constexpr Between between = Between::ByEnds;
  static KW_HD double slope(double, double) { return 0; }
};
#define KW_FUNCTION(op, name, ...) struct op : Function { __VA_ARGS__ };
#define KW_UNARY(op, name, ...) KW_FUNCTION(op, name, __VA_ARGS__)
#define KW_BINARY(op, name, ...) KW_FUNCTION(op, name, __VA_ARGS__)
#define VALUE(...) static KW_HD double at(double x, double z = 0) { return __VA_ARGS__; }
#define SLOPE(...)                        \
  static constexpr bool has_slope = true; \
  static KW_HD double slope(double x, double y) { return __VA_ARGS__; }
#define BETWEEN(shape) static constexpr Between between = Between::shape;
