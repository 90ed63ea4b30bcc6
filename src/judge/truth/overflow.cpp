// The problem: where a result leaves the range of its type, honest kernels differ. One computes in
// fp32 inside and never overflows; one rounds every op, as PyTorch does; a fused one rounds some.
// An infinite bound would accept every number. So the graph is computed again for every subset of
// the overflowing nodes, with results beyond the limit replaced by infinities, and each run gives a
// value with a bound of its own. Sums add one more choice, because their order decides which
// infinity, or NaN, comes first. The alternative, a set of classes per element, would not know that
// 1 / inf is 0. The cost is a few more runs, only for inputs that overflow.
#include "truth/overflow.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "os/parallel.h"
#include "ports/bound.h"
#include "truth/scalar.h"
#include "truth/view.h"

namespace kw::truth {

using ports::OtherValue;
using ports::Truth;

namespace {

constexpr size_t kMostPoints = 4;     // with more, single nodes and all but one are tried
constexpr double kMostWork = 0x1p25;  // elements of all nodes, times the number of runs
constexpr size_t kLeastCases = 3, kLeastOrders = 10;
// Of the bound: if all outputs were such zeros, the rms of z would exceed its limit.
constexpr double kClose = 0.25;

/// One limit of one node.
struct Point {
  size_t node;
  uint8_t limit;
};

class Cases {
 public:
  Cases(const Graph& graph, const Findings& findings) {
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      const uint8_t bits = findings.beyond[id];
      elements_ += static_cast<double>(count_of(graph::values_of(graph.nodes[id].shape)));
      if ((bits & kBeyondPath) != 0) points_.push_back({id, kBeyondPath});
      if ((bits & kBeyondHalf) != 0) points_.push_back({id, kBeyondHalf});
      both_ways_ |= (bits & kBeyondUp) != 0 && (bits & kBeyondDown) != 0;
      near_ |= (bits & kBeyondNear) != 0;
      const DType type = graph.nodes[id].dtype;
      clips_ |= (bits & kBeyondHalf) != 0 && (type == DType::Fp8e4m3 || type == DType::Fp8e5m2);
    }
    nodes_ = graph.nodes.size();
  }

  std::vector<OverflowCase> list() {
    if (points_.empty()) return {};
    const auto all = [](const Point&) { return true; };
    const auto in_float = [](const Point& p) { return p.limit == kBeyondPath; };
    // A kernel that rounds to half types only at the end.
    if (!std::ranges::all_of(points_, in_float)) add_orders(in_float);
    if (near_) add(all, {.at = {}, .order = SumOrder::Up, .eager = true});
    if (clips_) add(all, {.at = {}, .order = SumOrder::Up, .saturates = true});
    add_subsets();
    std::vector<OverflowCase> rounded;
    std::swap(rounded, cases_);
    add_orders(all);
    // The first ones matter most: those of whole kernels.
    cases_.insert(cases_.begin(), rounded.begin(), rounded.end());
    const auto most = static_cast<size_t>(std::max(kMostWork / std::max(elements_, 1.0), 1.0));
    const size_t kept = std::max(most, both_ways_ ? kLeastOrders : kLeastCases);
    if (cases_.size() > kept) {
      // Keeps the first and the last ones.
      const auto begin = cases_.begin() + static_cast<std::ptrdiff_t>(kept / 2);
      cases_.erase(begin, begin + static_cast<std::ptrdiff_t>(cases_.size() - kept));
    }
    return std::move(cases_);
  }

 private:
  template <class Chosen>
  void add(Chosen chosen, OverflowCase made) {
    made.at.assign(nodes_, 0);
    bool any = false;
    for (const Point& point : points_) {
      if (!chosen(point)) continue;
      made.at[point.node] |= point.limit;
      any = true;
    }
    if (any) cases_.push_back(std::move(made));
  }

  template <class Chosen>
  void add_orders(Chosen chosen) {
    if (both_ways_) {
      for (const SumOrder order :
           {SumOrder::Both, SumOrder::Down, SumOrder::OnlyUp, SumOrder::OnlyDown})
        add(chosen, {.at = {}, .order = order});
    }
    add(chosen, {.at = {}, .order = SumOrder::Up});
  }

  void add_subsets() {
    const size_t count = points_.size();
    const auto is = [this](const Point& p, size_t k) {
      return p.node == points_[k].node && p.limit == points_[k].limit;
    };
    if (count > kMostPoints) {
      for (size_t k = 0; k < count; ++k) {
        add_orders([&](const Point& p) { return is(p, k); });
        add([&](const Point& p) { return !is(p, k); }, {});
      }
      return;
    }
    for (size_t set = 1; set + 1 < size_t{1} << count; ++set) {
      const auto chosen = [&](const Point& p) {
        return (set >> static_cast<size_t>(&p - points_.data()) & 1) != 0;
      };
      both_ways_ ? add_orders(chosen) : add(chosen, {});
    }
  }

  std::vector<Point> points_;
  std::vector<OverflowCase> cases_;
  size_t nodes_ = 0;
  double elements_ = 0;
  bool both_ways_ = false, near_ = false, clips_ = false;
};

/// The class of a value after rounding to the output's type: bits of MayBe, or 0.
uint8_t class_of(double value, double limit) {
  if (value != value) return ports::kMayBeNan;
  if (value > limit) return ports::kMayBeUp;
  return value < -limit ? ports::kMayBeDown : 0;
}

/// Drops values that others include; keeps the order by index.
void tidy(std::vector<OtherValue>& values) {
  std::ranges::sort(values, [](const OtherValue& a, const OtherValue& b) {
    return a.index != b.index ? a.index < b.index : a.bound > b.bound;
  });
  std::vector<OtherValue> kept;
  for (const OtherValue& one : values) {
    bool known = false;
    for (size_t k = kept.size(); k-- > 0 && kept[k].index == one.index && !known;)
      known = std::fabs(kept[k].value - one.value) + one.bound <= kept[k].bound * (1 + 1e-6);
    if (!known) kept.push_back(one);
  }
  values = std::move(kept);
}

/// A bound for v, the value of the op-by-op run, where its own is infinite: the relative bound of
/// the truth, which wide numbers gave, or a rounding. Never infinite: that would allow any number.
double lent_bound(const ports::ElementBound& truth, size_t at, double v) {
  const double t = std::fabs(truth.truth.value[at]), around = truth.at(at), m = std::fabs(v);
  const double own = truth.unit * m + truth.step;
  const bool known = std::isfinite(t) && std::isfinite(around) && around < t;
  return known ? std::max(own, around * std::min(m / t, 1.0)) : own;
}

void add_floats(const Truth& other, Computed how, bool flush, int threads, Truth& truth) {
  const double limit = ports::largest_finite(truth.dtype);
  const ports::ElementBound own(truth, flush), its(other, flush);
  tensor::Large<uint8_t> marks = std::move(truth.may_overflow);
  marks.resize(truth.value.size());
  std::vector<OtherValue> found = std::move(truth.others);
  std::mutex mutex;
  os::in_blocks(threads, static_cast<int64_t>(marks.size()), [&](int64_t begin, int64_t end) {
    std::vector<OtherValue> local;
    for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end); ++at) {
      const double t = truth.value[at], v = other.value[at];
      if (t == v || (t != t && v != v)) continue;
      const uint8_t kind = class_of(v, limit);
      if (kind != 0) {
        if (kind != class_of(t, limit)) marks[at] |= kind;
        continue;
      }
      const double bound = its.at(at), around = own.at(at);
      const double reach = how == Computed::Overflowing ? bound : 0;
      const double enough = v == 0 ? kClose * around : around;  // v: underflow on the way
      const bool within = std::isfinite(t) && std::fabs(t - v) + reach <= enough;
      if (within || (!std::isfinite(bound) && how == Computed::Overflowing)) continue;
      marks[at] |= ports::kMayBeOther;
      const bool lent = !std::isfinite(bound) && how == Computed::OpByOp;
      local.push_back({static_cast<int64_t>(at), v, lent ? lent_bound(own, at, v) : bound});
    }
    const std::lock_guard lock(mutex);
    found.insert(found.end(), local.begin(), local.end());
  });
  tidy(found);
  truth.others = std::move(found);
  if (std::ranges::any_of(marks, [](uint8_t m) { return m != 0; }))
    truth.may_overflow = std::move(marks);
}

/// Integers that overflow decides have a jump to the other result.
void add_integers(const Truth& other, Truth& truth) {
  for (size_t at = 0; at < truth.integers.size(); ++at) {
    if (truth.integers[at] == other.integers[at]) continue;
    truth.jump.resize(truth.integers.size());
    const double apart = std::fabs(to_double(truth.integers[at], truth.dtype) -
                                   to_double(other.integers[at], truth.dtype));
    truth.jump[at] = std::max(truth.jump[at], stored_bound(apart));
  }
}

/// Scores that overflow are ranked as if their error reached the other value.
void add_scores(const ports::Scores& other, ports::Scores& scores) {
  for (size_t at = 0; at < scores.value.size(); ++at) {
    const double t = scores.value[at], v = other.value[at];
    if (t == v || (t != t && v != v)) continue;
    scores.bound.resize(scores.value.size());
    const double apart = std::fabs(t - v) + (other.bound.empty() ? 0 : other.bound[at]);
    scores.bound[at] = std::max(scores.bound[at], stored_bound(apart));
  }
}

}  // namespace

std::vector<OverflowCase> overflow_cases(const Graph& graph, const Findings& findings) {
  return Cases(graph, findings).list();
}

void add_alternatives(const std::vector<Truth>& others, Computed how, bool flush, int threads,
                      std::vector<Truth>& truths) {
  for (size_t k = 0; k < truths.size(); ++k) {
    Truth& truth = truths[k];
    const Truth& other = others[k];
    if (truth.scores && other.scores) add_scores(*other.scores, *truth.scores);
    if (!truth.integers.empty()) add_integers(other, truth);
    if (tensor::is_float(truth.dtype)) add_floats(other, how, flush, threads, truth);
  }
}

}  // namespace kw::truth
