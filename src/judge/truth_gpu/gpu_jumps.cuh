// Near discontinuities, on a device: what the reductions and the products of the interpreter make
// of them. Follows gpu_rules.cuh; jump_rules.h has the rules of pointwise ops.

// `scale`: see jump_scale.
KW_HD Jump carried(Jump j, double scale, unsigned& found) {
  j.lo *= scale;
  j.hi *= scale;
  if (j.lo == infinity() || j.hi == infinity()) found |= kOutOfRange;
  return j;
}

// The other branch is the other operand, with its own errors.
KW_HD void join_errors(TrackedValue& y, const TrackedValue& x, const TrackedValue& z,
                       const Spec& s) {
  if (s.a) y.a = larger(z.a, x.a);
  if (s.h) y.h = larger(z.h, x.h);
}

// --- reductions ----------------------------------------------------------------------------------

struct JumpingSum : Sum {
  double lo, hi;
  KW_HD void start(const FoldSpec& f) {
    Sum::start(f);
    lo = hi = 0;
  }
  KW_HD void add(const TrackedValue& x, const Jump& j, const FoldSpec& f) {
    Sum::add(x, f);
    lo += j.lo;
    hi += j.hi;
  }
  KW_HD void merge(const JumpingSum& later, const FoldSpec& f) {
    Sum::merge(later, f);
    lo += later.lo;
    hi += later.hi;
  }
  KW_HD Jump jump(const FoldSpec&) const { return {lo, hi}; }
};

// `up` and `down`: the largest other branch above and below; `certain`: the largest element that
// has none.
struct JumpingChoice : Choice {
  double up, down, certain;
  KW_HD void start(const FoldSpec& f) {
    Choice::start(f);
    up = down = certain = -infinity();
  }
  KW_HD void add(const TrackedValue& x, const Jump& j, const FoldSpec& f) {
    Choice::add(x, f);
    const double v = f.sign * x.t, e = reach(x);
    if (jumps(j)) {
      up = larger(upper_end(v, rise_of(v, j, f.sign) + e), up);
      down = larger(v - (f.sign > 0 ? j.lo : j.hi) - e, down);
    } else {
      certain = larger(v, certain);
    }
  }
  KW_HD void merge(const JumpingChoice& later, const FoldSpec& f) {
    Choice::merge(later, f);
    up = larger(later.up, up);
    down = larger(later.down, down);
    certain = larger(later.certain, certain);
  }
  KW_HD Jump jump(const FoldSpec& f) const {
    const Jump j = choice_jump(f.sign, t, up, down, certain);
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
KW_HD Best best_of(const double* values, const double* reaches, int length, bool largest) {
  int best = 0;
  unsigned long long rivals = 0;
  for (int k = 0; k < length; ++k) {
    const double x = values[k], most = values[best];
    const bool beats = most == most && (x != x || (largest ? most < x : x < most));
    rivals |= 1ULL << k;
    if (!beats) continue;
    best = k;
    for (int r = 0; r < k; ++r) {
      if (!may_swap(values[r], x, reaches[r] + reaches[k])) rivals &= ~(1ULL << r);
    }
  }
  int low = best, high = best;
  for (int r = 0; r < length; ++r) {
    const bool open = may_swap(values[r], values[best], reaches[r] + reaches[best]);
    if ((rivals >> r & 1) == 0 || !open) continue;
    low = r < low ? r : low;
    high = r > high ? r : high;
  }
  return {best, {(double)(best - low), (double)(high - best)}};
}

// --- products ------------------------------------------------------------------------------------

struct JumpingProduct : Product {
  double far;  // what the other branches of all factors amount to
  KW_HD void start() {
    Product::start();
    far = 0;
  }
  KW_HD void add(const TrackedValue& x, const Jump& jx, const TrackedValue& z, const Jump& jz,
                 const ProductSpec& f) {
    Product::add(x, z, f);
    if (!f.truth || (!jumps(jx) && !jumps(jz))) return;
    const double fx = stored_bound(furthest(jx)), fz = stored_bound(furthest(jz));
    left += x.t == 0 && x.a == 0 && x.h == 0 && fx > 0 ? 1 : 0;
    right += z.t == 0 && z.a == 0 && z.h == 0 && fz > 0 ? 1 : 0;
    open = open || fx == infinity() || fz == infinity();
    far += known(fx) * finite_magnitude(z.t) + known(fabs(x.t) + fx) * known(fz);
  }
  KW_HD Jump jump(const ProductSpec& f) const {
    const bool unknown = open || size > f.r.limit;
    if (!(fabs(t) <= kLargest) && !unknown && !f.errors) return {0, 0};
    return {far, far};
  }
};
