// The rules of docs/error-bound.md for one element in fp64, on a device: what the chunk loops of the
// interpreter do, op by op. Generated kernels follow; kPathFactor and the other constants of the
// bound stand before it.

typedef long long Int;

#define KW_DEVICE __device__ __forceinline__

constexpr double kLargest = 0x1.fffffffffffffp+1023, kSmall = 0x1p-6;
constexpr double kPathOverflow = 0x1.fffffep+127, kHalfOverflow = 65504;
constexpr unsigned kOutOfRange = 1, kJumps = 2, kMistake = 4;
constexpr double kPi = 3.14159265358979323846;

KW_DEVICE double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
KW_DEVICE double not_a_number() { return __longlong_as_double(0x7ff8000000000000LL); }

// A value and its errors: of the fp32 path and of half roundings.
struct Value {
  double t, a, h;
};

enum Format { kNone, kFp16, kBf16, kE4m3, kE5m2, kFp32 };

// All that does not change from element to element.
struct Spec {
  bool truth;                              // else only t is computed, and rounded to `settles`
  bool a, h, same, half_infinity;          // errors carried; one operand given twice
  double unit, relative, tiny, fixed;      // what the op adds on the fp32 path
  double own;                              // relative error of the argument
  double limit, half_unit, half_tiny, half_limit;
  Format settles;
};

KW_DEVICE double finite_magnitude(double x) {
  const double m = fabs(x);
  return m <= kLargest ? m : 0;
}

KW_DEVICE double larger(double x, double z) { return x > z ? x : z; }

// --- formats ---------------------------------------------------------------------------------

// Adds a number whose steps are as coarse as the format's.
KW_DEVICE double round_steps(double x, int bits, int least, double largest, bool has_infinity) {
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

KW_DEVICE double rounded(Format format, double x) {
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

KW_DEVICE double from_fp16(unsigned bits) {
  const unsigned special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  const float scaled = __uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f;
  return __uint_as_float(__float_as_uint(scaled) | special | (bits & 0x8000u) << 16);
}
KW_DEVICE double from_bf16(unsigned bits) { return __uint_as_float(bits << 16); }
KW_DEVICE double from_e5m2(unsigned bits) { return from_fp16(bits << 8); }
KW_DEVICE double from_e4m3(unsigned bits) {
  if ((bits & 0x7fu) == 0x7fu) return not_a_number();
  const float scaled = __uint_as_float((bits & 0x7fu) << 20) * 0x1p120f;
  return __uint_as_float(__float_as_uint(scaled) | (bits & 0x80u) << 24);
}

// As stored between nodes: never less than it was.
KW_DEVICE float stored(double bound) {
  if (!(bound > 0)) return bound == 0 ? 0.0f : __int_as_float(0x7f800000);
  const float nearest = (float)bound;
  const float up = (double)nearest < bound ? nearest * 0x1.000002p0f : nearest;
  return up > 0x1p-149f ? up : 0x1p-149f;
}

// --- an op's own rounding ----------------------------------------------------------------------

KW_DEVICE Value finish(Value y, const Spec& s, unsigned& found) {
  if (!s.truth) return {rounded(s.settles, y.t), 0, 0};
  const double m = fabs(y.t);
  const bool finite = m <= kLargest;
  if (s.a) {
    double e = y.a + (finite ? s.relative * m + (m > 0 ? s.tiny : 0) + s.fixed : 0);
    e = e == e ? e : infinity();
    if (finite && m + kPathFactor * y.a > s.limit) e = infinity();
    if (!(e <= kLargest)) found |= kOutOfRange;
    y.a = e;
  } else {
    y.a = 0;
  }
  if (s.h) {
    double e = y.h + (finite ? s.half_unit * m + (m > 0 ? s.half_tiny : 0) : 0);
    e = e == e ? e : infinity();
    if ((finite || !s.half_infinity) && m + y.h > s.half_limit) e = infinity();
    if (!(e <= kLargest)) found |= kOutOfRange;
    y.h = e;
  } else {
    y.h = 0;
  }
  return y;
}

// --- functions of one argument -----------------------------------------------------------------

KW_DEVICE double distance(double moved, double y) {
  if (moved == y || (y != y && moved != moved)) return 0;
  const double d = fabs(moved - y);
  return d == d ? d : infinity();
}

template <class F>
KW_DEVICE double swing(F f, double x, double y, double e, double overflow) {
  if (e == 0) return 0;
  if (e == infinity() && !(fabs(x) > overflow)) return infinity();
  if (!(fabs(x) < infinity())) return e < infinity() ? 0 : infinity();
  const double visible = 0x1p-26 * fabs(x);
  const double step = e > visible ? e : visible;
  const double most = larger(distance(f(x + step), y), distance(f(x - step), y));
  return e < step ? most * (e / step) : most;
}

// What lies between the ends of a function: ops::Between.
enum class Between { ByEnds, OverZero, OverOne, Wave, Pole, TanPoles, GammaPoles, Anything };

// CUDA's own may be off by one step, which among subnormal numbers is as much as the number itself:
// what follows would be exact where it must not be. The sums below are exact.
KW_DEVICE double exponential(double x) {
  return x < -708 && x > -1000 ? exp(x + 80) * 1.8048513878454153e-35 : exp(x);
}
KW_DEVICE double power_of_two(double x) {
  return x < -1020 && x > -1200 ? exp2(x + 128) * 0x1p-128 : exp2(x);
}

KW_DEVICE double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + exponential(-x));
  const double e = exponential(x);
  return e / (1 + e);
}

KW_DEVICE double digamma(double x) {
  if (x == 0) return copysign(infinity(), -x);
  double reflected = 0;
  if (x < 0) {
    if (x == floor(x)) return not_a_number();
    reflected = kPi / tan(kPi * (x - floor(x)));
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 -
                z * (1.0 / 252 -
                     z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return sum + log(x) - 0.5 / x - series - reflected;
}

KW_DEVICE double exact_sqrt(double x) { return __dsqrt_rn(x); }
KW_DEVICE double exact_div(double x, double z) { return __ddiv_rn(x, z); }
KW_DEVICE double above_zero(double x) { return larger(0.0, x); }

template <class F>
struct Caller {
  KW_DEVICE double operator()(double x) const { return F::at(x); }
};

template <class F>
KW_DEVICE double moved(double x, double y, double e, double overflow) {
  if (e == 0) return 0;
  if (F::between == Between::Wave) return e < 2 ? e : 2;
  if (F::between == Between::TanPoles && floor((x - e) / kPi + 0.5) != floor((x + e) / kPi + 0.5))
    return infinity();
  if (F::between == Between::GammaPoles && ceil(x - e) <= (x + e < 0 ? x + e : 0))
    return infinity();
  return swing(Caller<F>(), x, y, e, overflow);
}

template <class F>
KW_DEVICE Value unary(const Value& x, const Spec& s, unsigned& found) {
  Value y = {F::at(x.t), 0, 0};
  if (s.truth && (s.a || s.h)) {
    const double m = fabs(x.t), e = x.a + s.own * finite_magnitude(x.t);
    bool rough = true;
    if (F::has_slope) {
      const double d = F::slope(x.t, y.t);
      rough = !(larger(e, x.h) <= kSmall * (m < 1 ? m : 1)) || !(d <= kLargest);
      y.a = d * e;
      y.h = d * x.h;
    }
    if (rough) {
      y.a = s.a ? moved<F>(x.t, y.t, kPathFactor * e, kPathOverflow) / kPathFactor : 0;
      y.h = s.h ? moved<F>(x.t, y.t, x.h, kHalfOverflow) : 0;
    }
  }
  return finish(y, s, found);
}

// --- functions of two --------------------------------------------------------------------------

KW_DEVICE Value add(const Value& x, const Value& z, double sign, const Spec& s, unsigned& found) {
  const bool cancels = s.same && sign < 0;
  Value y = {__dadd_rn(x.t, sign * z.t), 0, 0};
  y.a = cancels && x.a < infinity() ? 0 : x.a + z.a;
  y.h = cancels && x.h < infinity() ? 0 : x.h + z.h;
  return finish(y, s, found);
}

KW_DEVICE double product_error(double x, double z, double ex, double ez, double second) {
  const double mx = fabs(x), mz = fabs(z);
  // Infinity times what may be zero may be NaN.
  const bool open = (mx > kLargest && ez > 0 && second * ez >= mz) ||
                    (mz > kLargest && ex > 0 && second * ex >= mx);
  const double sum = finite_magnitude(z) * ex + finite_magnitude(x) * ez;
  return open ? infinity() : sum + second * ex * ez;
}

KW_DEVICE Value mul(const Value& x, const Value& z, const Spec& s, unsigned& found) {
  Value y = {__dmul_rn(x.t, z.t), 0, 0};
  if (s.truth && s.a) y.a = product_error(x.t, z.t, x.a, z.a, 4);
  if (s.truth && s.h) y.h = product_error(x.t, z.t, x.h, z.h, 1);
  return finish(y, s, found);
}

KW_DEVICE double worst_quotient(double x, double ex, double z, double ez, double y,
                                double overflow) {
  if (ex == 0 && ez == 0) return 0;
  if (!(ez < fabs(z))) {
    // A divisor that overflowed may be infinite, and the quotient 0.
    const bool large = fabs(z) > overflow;
    return ez == infinity() && large && ex < infinity() ? fabs(y) : infinity();
  }
  const double high = larger(distance((x + ex) / (z - ez), y), distance((x + ex) / (z + ez), y));
  const double low = larger(distance((x - ex) / (z - ez), y), distance((x - ex) / (z + ez), y));
  return larger(high, low);
}

KW_DEVICE double quotient_error(const Spec& s, double x, double z, double y, double ex, double ez,
                                double factor, double overflow) {
  const double m = fabs(z);
  // One, unless it may be zero by zero or infinity by infinity.
  if (s.same) return ex == 0 || factor * ex < m ? 0 : infinity();
  if (ez <= kSmall * m && m > 0 && m <= kLargest) return (ex + finite_magnitude(y) * ez) / m;
  return worst_quotient(x, factor * ex, z, factor * ez, y, overflow) / factor;
}

KW_DEVICE Value divide(const Value& x, const Value& z, const Spec& s, unsigned& found) {
  Value y = {__ddiv_rn(x.t, z.t), 0, 0};
  if (s.truth && s.a)
    y.a = quotient_error(s, x.t, z.t, y.t, x.a, z.a, kPathFactor, kPathOverflow);
  if (s.truth && s.h) y.h = quotient_error(s, x.t, z.t, y.t, x.h, z.h, 1, kHalfOverflow);
  return finish(y, s, found);
}

KW_DEVICE double choice_error(double p, double q, double m, double ep, double eq) {
  const double up = larger(p + ep, q + eq);
  const double down = p - ep > q - eq ? p - ep : q - eq;
  const double most = larger(up - m, m - down);
  const double known = fabs(m) <= kLargest ? most : 0;
  return ep == infinity() || eq == infinity() ? infinity() : known;
}

KW_DEVICE double picked(double x, double z, double sign, bool nan_wins) {
  const double p = nan_wins || x == x ? sign * x : -infinity();
  const double q = nan_wins || z == z ? sign * z : -infinity();
  const double nan = p == p ? q : p;
  const double best = p > q || p != p || q != q ? (p > q ? p : nan) : q;
  return x != x && z != z ? x : sign * best;
}

KW_DEVICE Value choose(const Value& x, const Value& z, double sign, bool nan_wins, const Spec& s,
                       unsigned& found) {
  const double p = nan_wins || x.t == x.t ? sign * x.t : -infinity();
  const double q = nan_wins || z.t == z.t ? sign * z.t : -infinity();
  Value y = {picked(x.t, z.t, sign, nan_wins), 0, 0};
  const double m = sign * y.t;
  if (s.truth && s.a) y.a = choice_error(p, q, m, x.a, z.a);
  // Both errors together may lift a value over the other where neither would.
  if (s.truth && s.h)
    y.h = choice_error(p, q, m, x.h + kPathFactor * x.a, z.h + kPathFactor * z.a);
  return finish(y, s, found);
}

KW_DEVICE double pow_error(double x, double z, double y, double ex, double ez, double overflow) {
  if (ex == 0 && ez == 0) return 0;
  // Negative numbers have whole powers only; the exponent may or may not be whole.
  if (x < 0 && ez > 0 && floor(z + ez) >= ceil(z - ez)) return infinity();
  const bool small = x > 0 && ex <= kSmall * x && ez <= kSmall;
  if (small && fabs(y) <= kLargest && fabs(z) * ex <= kSmall * x)
    return fabs(z * y / x) * ex + fabs(y * log(x)) * ez;
  return swing([=](double v) { return pow(v, z); }, x, y, ex, overflow) +
         swing([=](double v) { return pow(x, v); }, z, y, ez, overflow);
}

KW_DEVICE Value power(const Value& x, const Value& z, const Spec& s, unsigned& found) {
  Value y = {z.t == 2 ? __dmul_rn(x.t, x.t) : pow(x.t, z.t), 0, 0};
  if (s.truth && s.a) {
    // x^z = 2^(z log2 x), whose exponent rounds.
    const double exponent = finite_magnitude(z.t * log(fabs(x.t)));
    y.a = pow_error(x.t, z.t, y.t, kPathFactor * x.a, kPathFactor * z.a, kPathOverflow) /
              kPathFactor +
          s.unit * exponent * finite_magnitude(y.t);
  }
  if (s.truth && s.h) y.h = pow_error(x.t, z.t, y.t, x.h, z.h, kHalfOverflow);
  return finish(y, s, found);
}

KW_DEVICE double reach(const Value& x) { return kPathFactor * x.a + x.h; }

KW_DEVICE double hypotenuse(double x, double z) {
  const double large = fmax(fabs(x), fabs(z)), small = fmin(fabs(x), fabs(z));
  if (fabs(x) == infinity() || fabs(z) == infinity()) return infinity();
  if (x != x || z != z) return not_a_number();
  if (large == 0) return 0;
  const double ratio = small / large;
  return large * sqrt(1 + ratio * ratio);
}

struct Atan2 {
  static KW_DEVICE double at(double x, double z) { return atan2(x, z); }
};
struct Hypot {
  static KW_DEVICE double at(double x, double z) { return hypotenuse(x, z); }
};

template <class F>
KW_DEVICE double binary_error(double x, double z, double y, double ex, double ez, double overflow) {
  return swing([=](double v) { return F::at(v, z); }, x, y, ex, overflow) +
         swing([=](double v) { return F::at(x, v); }, z, y, ez, overflow);
}

template <class F>
KW_DEVICE Value binary(const Value& x, const Value& z, bool turns_around, const Spec& s,
                       unsigned& found) {
  Value y = {F::at(x.t, z.t), 0, 0};
  if (s.truth && turns_around && z.t <= reach(z) && fabs(x.t) <= reach(x) && reach(x) > 0)
    found |= kJumps;
  if (s.truth && s.a)
    y.a = binary_error<F>(x.t, z.t, y.t, kPathFactor * x.a, kPathFactor * z.a, kPathOverflow) /
          kPathFactor;
  if (s.truth && s.h) y.h = binary_error<F>(x.t, z.t, y.t, x.h, z.h, kHalfOverflow);
  return finish(y, s, found);
}

KW_DEVICE Value copy_sign(const Value& x, const Value& z, const Spec& s, unsigned& found) {
  if (s.truth && (z.t != z.t || (reach(z) > 0 && fabs(z.t) <= reach(z))) && x.t != 0)
    found |= kJumps;
  return finish({copysign(x.t, z.t), x.a, x.h}, s, found);
}

// --- copies, steps, comparisons ----------------------------------------------------------------

KW_DEVICE Value negate(const Value& x, const Spec& s, unsigned& found) {
  return finish({-x.t, x.a, x.h}, s, found);
}
KW_DEVICE Value absolute(const Value& x, const Spec& s, unsigned& found) {
  return finish({fabs(x.t), x.a, x.h}, s, found);
}
KW_DEVICE Value cast(const Value& x, const Spec& s, unsigned& found) { return finish(x, s, found); }

// Integers a format can hold are exact.
KW_DEVICE Value cast(double t, Format to, double to_unit, const Spec& s, unsigned& found) {
  Value y = {t, 0, 0};
  if (s.a) y.a = rounded(kFp32, t) == t ? 0 : s.unit * fabs(t);
  if (s.h) y.h = rounded(to, t) == t ? 0 : to_unit * fabs(t);
  return finish(y, s, found);
}

KW_DEVICE Value select(bool first, const Value& x, const Value& z, const Spec& s, unsigned& found) {
  return finish(first ? x : z, s, found);
}

struct IsTrue {
  static KW_DEVICE double at(double x) { return x != 0 ? 1 : 0; }
};

template <class F>
KW_DEVICE Value step(const Value& x, const Spec& s, unsigned& found) {
  return finish({F::at(x.t), 0, 0}, s, found);
}

// Towards zero, as far as int64 reaches; the caller keeps what fits its type.
KW_DEVICE Int to_integer(double x) {
  if (x != x) return 0;
  if (x <= -0x1p63) return (Int)1 << 63;
  if (x >= 0x1p63) return ~((Int)1 << 63);
  return (Int)x;
}

// Towards minus infinity, and what is left then. A division by zero is for the interpreter to
// refuse.
KW_DEVICE Int floor_divide(Int x, Int z, unsigned& found) {
  if (z == 0) found |= kMistake;
  if (z == 0 || z == -1) return (Int)(0ULL - (unsigned long long)x);
  const Int rest = x % z;
  return x / z - (rest != 0 && (rest < 0) != (z < 0) ? 1 : 0);
}
KW_DEVICE Int remain(Int x, Int z, unsigned& found) {
  if (z == 0) found |= kMistake;
  if (z == 0 || z == -1) return 0;
  const Int rest = x % z;
  return rest != 0 && (rest < 0) != (z < 0) ? rest + z : rest;
}

// --- reductions --------------------------------------------------------------------------------

struct FoldSpec {
  bool truth, in_a, in_h, out_a, out_h;
  double sign;  // of Max and Min
  double count, root, plus, chain, half_sum;
  double unit, limit, half_unit, half_tiny, half_limit;
  Format settles;
};

struct Sum {
  double t, size, a, h;  // h: of squares
  KW_DEVICE void start(const FoldSpec&) { t = size = a = h = 0; }
  KW_DEVICE void add(const Value& x, const FoldSpec& f) {
    t = __dadd_rn(t, x.t);
    if (!f.truth) return;
    size += finite_magnitude(x.t);
    a += x.a;
    h += x.h * x.h;
  }
  KW_DEVICE void merge(const Sum& later, const FoldSpec&) {
    t = __dadd_rn(t, later.t);
    size += later.size;
    a += later.a;
    h += later.h;
  }
  KW_DEVICE Value result(const FoldSpec& f) const {
    if (!f.truth) return {rounded(f.settles, t), 0, 0};
    Value y = {t, a, sqrt(h)};
    const bool finite = fabs(t) <= kLargest;
    if (f.count > 1) {
      y.h *= f.half_sum;
      if (finite) {
        const double tree = (f.root * sqrt(f.count) + f.plus) * size;
        y.a += f.unit * larger(tree, f.chain * fabs(t));
        y.h += f.half_unit * fabs(t) + (t != 0 ? f.half_tiny : 0);
      }
    }
    if (size > f.limit) y.a = infinity();
    if (finite && fabs(t) > f.half_limit) y.h = infinity();
    return y;
  }
};

// The largest value (of the negated ones, for Min), and the largest ends of what values may be.
struct Choice {
  double t, up_a, down_a, up_h, down_h;
  KW_DEVICE void start(const FoldSpec&) { t = up_a = down_a = up_h = down_h = -infinity(); }
  KW_DEVICE void add(const Value& x, const FoldSpec& f) {
    const double v = f.sign * x.t;
    if (v != v) t = v;
    t = v > t ? v : t;
    if (!f.truth) return;
    if (f.in_a) {
      up_a = larger(v + x.a, up_a);
      down_a = larger(v - x.a, down_a);
    }
    if (f.in_h) {
      const double both = x.h + (f.in_a ? kPathFactor * x.a : 0);
      up_h = larger(v + both, up_h);
      down_h = larger(v - both, down_h);
    }
  }
  KW_DEVICE void merge(const Choice& later, const FoldSpec&) {
    if (later.t != later.t) t = later.t;
    t = later.t > t ? later.t : t;
    up_a = larger(later.up_a, up_a);
    down_a = larger(later.down_a, down_a);
    up_h = larger(later.up_h, up_h);
    down_h = larger(later.down_h, down_h);
  }
  KW_DEVICE double spread(double up, double down) const {
    return fabs(t) <= kLargest ? larger(up - t, t - down) : 0;
  }
  KW_DEVICE Value result(const FoldSpec& f) const {
    Value y = {f.sign * t, 0, 0};
    if (f.truth && f.in_a) y.a = spread(up_a, down_a);
    if (f.truth && f.in_h) y.h = spread(up_h, down_h);
    return y;
  }
};

// Every group of kLanes neighbouring threads adds its states up in the first of them.
template <int kThreads, int kLanes, class State>
KW_DEVICE void gather(State* states, const State& own, const FoldSpec& f) {
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
KW_DEVICE void scan_block(State* states, const State& own, Add add) {
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

// `passed`: of the magnitudes of all partial sums, which a serial scan rounds one by one.
KW_DEVICE Value scan_result(const Sum& s, double passed, double count, const FoldSpec& f) {
  if (!f.truth) return {rounded(f.settles, s.t), 0, 0};
  const double m = finite_magnitude(s.t);
  Value y = {s.t, s.a, sqrt(s.h)};
  if (count > 1) {
    const double tree = (f.root * sqrt(count) + f.plus) * s.size, serial = passed / kPathFactor;
    if (s.size <= kLargest) y.a += f.unit * (tree < serial ? serial : tree);
    y.h = f.half_sum * y.h + f.half_unit * m + (m > 0 ? f.half_tiny : 0);
  }
  if (s.size > f.limit) y.a = infinity();
  if (m > f.half_limit) y.h = infinity();
  if (!f.out_a) y.a = 0;
  if (!f.out_h) y.h = 0;
  return y;
}

KW_DEVICE void look_for_infinity(const Value& y, unsigned& found) {
  if (!(y.a < infinity() && y.h < infinity())) found |= kOutOfRange;
}

// --- products ----------------------------------------------------------------------------------

struct ProductSpec {
  bool truth, errors, tf32, flush;  // errors: whether a factor carries some
  double unit, tiny, root, plus, half_sum;
  double limit, half_unit, half_tiny, half_limit;
  Format settles;
};

// Not infinite and not unknown, or nothing.
KW_DEVICE double known(double bound) { return bound <= kLargest ? bound : 0; }

struct Product {
  double t, size, errors, squares, cut;
  double left, right;  // factors that are not certainly zero
  bool open;           // some error is infinite
  KW_DEVICE void start() {
    t = size = errors = squares = cut = left = right = 0;
    open = false;
  }
  KW_DEVICE void add(const Value& x, const Value& z, const ProductSpec& f) {
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
  KW_DEVICE Value result(const ProductSpec& f) const {
    if (!f.truth) return {rounded(f.settles, t), 0, 0};
    const double m = fabs(t);
    const bool finite = m <= kLargest, unknown = open || size > f.limit;
    if (!finite && !unknown && !f.errors) return {t, 0, 0};
    const double n = left < right ? left : right;
    const double tree = (f.root * sqrt(n) + f.plus) * size, chain = n / (2 * kPathFactor) * m;
    const double below = size > 0 ? f.tiny * (f.flush ? n : sqrt(n)) : 0;
    Value y = {t, errors + f.unit * larger(tree, chain) + below, 0};
    y.h = f.half_sum * sqrt(squares);
    if (f.half_unit > 0) y.h += f.half_unit * m + (m > 0 ? f.half_tiny : 0);
    if (f.tf32) y.h += f.half_sum * 0x1p-10 * sqrt(cut) + 0x1p-9 * m;
    if (m > f.half_limit) y.h = infinity();
    if (unknown || !finite) y.a = infinity();
    return y;
  }
};

// --- the functions themselves ------------------------------------------------------------------

// What a row of table.def need not say. The rows follow.
struct Function {
  static constexpr bool has_slope = false;
  static constexpr Between between = Between::ByEnds;
  static KW_DEVICE double slope(double, double) { return 0; }
};
#define KW_FUNCTION(op, name, ...) struct op : Function { __VA_ARGS__ };
#define KW_UNARY(op, name, ...) KW_FUNCTION(op, name, __VA_ARGS__)
#define VALUE(...) static KW_DEVICE double at(double x) { return __VA_ARGS__; }
#define SLOPE(...)                        \
  static constexpr bool has_slope = true; \
  static KW_DEVICE double slope(double x, double y) { return __VA_ARGS__; }
#define BETWEEN(shape) static constexpr Between between = Between::shape;
