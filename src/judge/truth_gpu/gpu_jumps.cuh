// Near discontinuities for one element, on a device: what point_jumps.cpp, rank_row.cpp, the
// reductions and the products of the interpreter make of them. Follows gpu_rules.cuh.

// How far below and above its value another branch of an element lies.
struct Jump {
  double lo, hi;
};

KW_DEVICE bool jumps(const Jump& j) { return j.lo > 0 || j.hi > 0; }
KW_DEVICE double furthest(const Jump& j) { return larger(j.hi, j.lo); }
KW_DEVICE bool one_apart(const Jump& j) { return j.lo + j.hi <= 1; }
KW_DEVICE bool spans_zero(double x, const Jump& j) { return x - j.lo <= 0 && x + j.hi >= 0; }

KW_DEVICE void widen(Jump& j, double other, double y) {
  if (other == y || (y != y && other != other)) return;
  if (other != other || y != y) {
    j.lo = j.hi = infinity();
    return;
  }
  if (other < y) j.lo = larger(y - other, j.lo);
  if (other > y) j.hi = larger(other - y, j.hi);
}

// What no rule says anything about.
KW_DEVICE void widen_to_anything(Jump& j, double y) { widen(j, not_a_number(), y); }

// `scale`: what lies far away also rounds by more.
KW_DEVICE Jump carried(Jump j, double scale, unsigned& found) {
  j.lo *= scale;
  j.hi *= scale;
  if (j.lo == infinity() || j.hi == infinity()) found |= kOutOfRange;
  return j;
}

// --- where jumps come from -----------------------------------------------------------------------

KW_DEVICE Jump flipped(bool y, bool possible) {
  return {possible && y ? 1.0 : 0.0, possible && !y ? 1.0 : 0.0};
}
KW_DEVICE bool may_flip(const Value& x, const Value& z, bool same) {
  const double e = reach(x) + reach(z);
  return e == infinity() || (e > 0 && fabs(x.t - z.t) <= e && !same);
}
KW_DEVICE bool may_be_zero(const Value& x) { return reach(x) > 0 && fabs(x.t) <= reach(x); }

// A step within reach. To bool, the one point 0 differs from both its sides.
template <class F>
KW_DEVICE Jump stepped(const Value& x, bool to_bool) {
  const double e = reach(x), m = fabs(x.t), y = F::at(x.t);
  if (e == 0 || (!(m <= kLargest) && e < infinity())) return {0, 0};
  if (e == infinity() && to_bool) return flipped(y != 0, true);
  if (e == infinity()) return {infinity(), infinity()};
  const double below = F::at(x.t - e), above = F::at(x.t + e);
  const double low = to_bool && m <= e ? 0 : (above < below ? above : below);
  const double high = below < above ? above : below;
  return {low < y ? y - low : 0, high > y ? high - y : 0};
}

// --- how they travel -----------------------------------------------------------------------------

// Ends of the operands say what a result may be, but for these.
enum Carry { kByEnds, kOverZero, kOverOne, kWave, kPole, kAnything };

// Where a result has steps, a branch further away may lie beside one, too.
KW_DEVICE Jump reached(const Jump& j, const Value& x) {
  return jumps(j) ? Jump{j.lo + reach(x), j.hi + reach(x)} : Jump{0, 0};
}

template <class F>
KW_DEVICE void carry_ends(Jump& out, double y, double x, const Jump& j, F f) {
  if (j.lo > 0) widen(out, f(x - j.lo), y);
  if (j.hi > 0) widen(out, f(x + j.hi), y);
}

KW_DEVICE bool has_end(const Jump& j, int end) {
  return end == 0 || (end == 1 ? j.lo : j.hi) > 0;
}
KW_DEVICE double end_of(double x, const Jump& j, int end) {
  return end == 0 ? x : (end == 1 ? x - j.lo : x + j.hi);
}

template <class F>
KW_DEVICE void carry_ends(Jump& out, double y, double x, const Jump& jx, double z, const Jump& jz,
                          bool same, F f) {
#pragma unroll 1
  for (int end = 1; end < 9; ++end) {
    const int p = end / 3, q = end % 3;
    if ((same && p != q) || !has_end(jx, p) || !has_end(jz, q)) continue;
    widen(out, f(end_of(x, jx, p), end_of(z, jz, q)), y);
  }
}

template <class F>
KW_DEVICE Jump carry(Carry kind, Jump out, double y, double x, const Jump& j, double scale, F f,
                     unsigned& found) {
  if (!jumps(j)) return out;
  const bool over = spans_zero(x, j);
  if (kind == kWave) {
    widen(out, -1, y);
    widen(out, 1, y);
  } else if (kind == kAnything || (kind == kPole && over)) {
    widen_to_anything(out, y);
  } else {
    if (over && kind == kOverZero) widen(out, 0, y);
    if (over && kind == kOverOne) widen(out, 1, y);
    carry_ends(out, y, x, j, f);
  }
  return carried(out, scale, found);
}

template <class F>
KW_DEVICE Jump carry(Carry kind, Jump out, double y, double x, const Jump& jx, double z,
                     const Jump& jz, bool same, double scale, F f, unsigned& found) {
  if (!jumps(jx) && !jumps(jz)) return out;
  if (kind == kAnything || (kind == kPole && jumps(jz) && spans_zero(z, jz))) {
    widen_to_anything(out, y);
  } else {
    if (kind == kOverZero && (spans_zero(x, jx) || spans_zero(z, jz))) widen(out, 0, y);
    carry_ends(out, y, x, jx, z, jz, same, f);
  }
  return carried(out, scale, found);
}

// The other branch is the other operand, with its own errors.
template <class F>
KW_DEVICE Jump carry_choice(Value& y, const Value& x, const Jump& jx, const Value& z,
                            const Jump& jz, const Spec& s, F f, unsigned& found) {
  if (!jumps(jx) && !jumps(jz)) return {0, 0};
  if (s.a) y.a = larger(z.a, x.a);
  if (s.h) y.h = larger(z.h, x.h);
  Jump out = {0, 0};
  carry_ends(out, y.t, x.t, jx, z.t, jz, s.same, f);
  return carried(out, 1, found);
}

// Between equal and not there is nothing, unless both are integers one apart at most.
template <class F>
KW_DEVICE Jump carry_comparison(bool equality, bool integers, Jump out, bool yes, double x,
                                const Jump& jx, double z, const Jump& jz, bool same, F f,
                                unsigned& found) {
  if (!jumps(jx) && !jumps(jz)) return out;
  const double y = yes ? 1 : 0;
  if (equality && !(integers && one_apart(jx) && one_apart(jz))) {
    widen(out, 1 - y, y);
  } else {
    carry_ends(out, y, x, jx, z, jz, same, f);
  }
  return carried(out, 1, found);
}

KW_DEVICE Jump carry_select(bool first, const Jump& jc, double x, const Jump& jx, double z,
                            const Jump& jz, unsigned& found) {
  if (!jumps(jc) && !jumps(jx) && !jumps(jz)) return {0, 0};
  Jump out = first ? jx : jz;
  if (jumps(jc)) {
    const double y = first ? x : z, other = first ? z : x;
    const Jump j = first ? jz : jx;
    widen(out, other, y);
    carry_ends(out, y, other, j, [](double v) { return v; });
  }
  return carried(out, 1, found);
}
KW_DEVICE void join_errors(Value& y, const Jump& jc, const Value& x, const Value& z,
                           const Spec& s) {
  if (!jumps(jc)) return;
  if (s.a) y.a = larger(z.a, x.a);
  if (s.h) y.h = larger(z.h, x.h);
}

// Zero may lie between two ends that are not. `ends`: as far as the operand's errors reach.
template <class F>
KW_DEVICE Jump carry_to_bool(Jump out, double y, double x, const Jump& j, const Jump& ends,
                             double at_zero, F f, unsigned& found) {
  if (!jumps(j)) return out;
  if (spans_zero(x, j)) widen(out, at_zero, y);
  carry_ends(out, y, x, ends, f);
  return carried(out, 1, found);
}

// Integers this large are not told from their neighbours, so that a step of one must not be taken
// for none.
KW_DEVICE Jump keep_steps(Jump out, bool here, double y) {
  if (!here || fabs(y) < 0x1p53) return out;
  const double step = fabs(y) * 0x1p-52;
  return {larger(step, out.lo), larger(step, out.hi)};
}

// --- reductions ----------------------------------------------------------------------------------

struct JumpingSum {
  Sum sum;
  double lo, hi;
  KW_DEVICE void start(const FoldSpec& f) {
    sum.start(f);
    lo = hi = 0;
  }
  KW_DEVICE void add(const Value& x, const Jump& j, const FoldSpec& f) {
    sum.add(x, f);
    lo += j.lo;
    hi += j.hi;
  }
  KW_DEVICE void merge(const JumpingSum& later, const FoldSpec& f) {
    sum.merge(later.sum, f);
    lo += later.lo;
    hi += later.hi;
  }
  KW_DEVICE Value result(const FoldSpec& f) const { return sum.result(f); }
  KW_DEVICE Jump jump(const FoldSpec&) const { return {lo, hi}; }
};

// `up` and `down`: the largest other branch above and below; `certain`: the largest element that
// has none.
struct JumpingChoice {
  Choice choice;
  double up, down, certain;
  KW_DEVICE void start(const FoldSpec& f) {
    choice.start(f);
    up = down = certain = -infinity();
  }
  KW_DEVICE void add(const Value& x, const Jump& j, const FoldSpec& f) {
    choice.add(x, f);
    const double v = f.sign * x.t, e = reach(x);
    if (jumps(j)) {
      up = larger(v + (f.sign > 0 ? j.hi : j.lo) + e, up);
      down = larger(v - (f.sign > 0 ? j.lo : j.hi) - e, down);
    } else {
      certain = larger(v, certain);
    }
  }
  KW_DEVICE void merge(const JumpingChoice& later, const FoldSpec& f) {
    choice.merge(later.choice, f);
    up = larger(later.up, up);
    down = larger(later.down, down);
    certain = larger(later.certain, certain);
  }
  KW_DEVICE Value result(const FoldSpec& f) const { return choice.result(f); }
  KW_DEVICE Jump jump(const FoldSpec& f) const {
    const double m = choice.t;
    const double above = (up < m ? m : up) - m, below = m - (down < certain ? certain : down);
    const Jump j = f.sign > 0 ? Jump{below, above} : Jump{above, below};
    if (!jumps(j)) return {0, 0};
    return {j.lo < 0 ? 0 : j.lo, j.hi < 0 ? 0 : j.hi};
  }
};

// The first of the best in a line of at most 64, and the outermost of those that may be it: what a
// better one certainly beats is out for good.
struct Best {
  Int index;
  Jump jump;
};
KW_DEVICE bool near(double x, double ex, double z, double ez) {
  const double e = ex + ez;
  return e == infinity() || (e > 0 && fabs(x - z) <= e);
}
KW_DEVICE Best best_of(const double* values, const double* reaches, int length, bool largest) {
  int best = 0;
  unsigned long long rivals = 0;
  for (int k = 0; k < length; ++k) {
    const double x = values[k], most = values[best];
    const bool beats = most == most && (x != x || (largest ? most < x : x < most));
    rivals |= 1ULL << k;
    if (!beats) continue;
    best = k;
    for (int r = 0; r < k; ++r) {
      if (!near(values[r], reaches[r], x, reaches[k])) rivals &= ~(1ULL << r);
    }
  }
  int low = best, high = best;
  for (int r = 0; r < length; ++r) {
    if ((rivals >> r & 1) == 0 || !near(values[r], reaches[r], values[best], reaches[best])) continue;
    low = r < low ? r : low;
    high = r > high ? r : high;
  }
  return {best, {(double)(best - low), (double)(high - best)}};
}

// --- products ------------------------------------------------------------------------------------

struct JumpingProduct {
  Product product;
  double far;  // what the other branches of all factors amount to
  KW_DEVICE void start() {
    product.start();
    far = 0;
  }
  KW_DEVICE void add(const Value& x, const Jump& jx, const Value& z, const Jump& jz,
                     const ProductSpec& f) {
    product.add(x, z, f);
    if (!f.truth || (!jumps(jx) && !jumps(jz))) return;
    const double fx = stored(furthest(jx)), fz = stored(furthest(jz));
    product.left += x.t == 0 && x.a == 0 && x.h == 0 && fx > 0 ? 1 : 0;
    product.right += z.t == 0 && z.a == 0 && z.h == 0 && fz > 0 ? 1 : 0;
    product.open = product.open || fx == infinity() || fz == infinity();
    far += known(fx) * finite_magnitude(z.t) + known(fabs(x.t) + fx) * known(fz);
  }
  KW_DEVICE Value result(const ProductSpec& f) const { return product.result(f); }
  KW_DEVICE Jump jump(const ProductSpec& f) const {
    const bool unknown = product.open || product.size > f.limit;
    if (!(fabs(product.t) <= kLargest) && !unknown && !f.errors) return {0, 0};
    return {far, far};
  }
};
