// The problem: errors may change which element is the best, or the order of a sort. NaN counts as
// the largest value, as in PyTorch. Elements within each other's bounds may be swapped, so each
// index result gets the range of possible indices. For sorted values, sorting all t + e and all t -
// e bounds every position. The alternative, testing all pairs of elements, would be quadratic in
// the length of a line. The cost is a few more sorts per line, only if its elements have errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/contains.h"
#include "truth/jump_rules.h"
#include "truth/rows.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

// Returns whether x comes strictly before z in ascending order.
bool below(double x, double z) { return x < z || (x == x && z != z); }

bool precedes(const Row& row, size_t x, size_t z, bool descending) {
  if (row.tracks.integer) {
    return descending ? compare(Op::Gt, row.i[x], row.i[z], row.dtype)
                      : compare(Op::Lt, row.i[x], row.i[z], row.dtype);
  }
  return descending ? below(row.t[z], row.t[x]) : below(row.t[x], row.t[z]);
}

bool near(const Row& row, size_t x, size_t z) {
  return may_swap(row.value(x), row.value(z), row.reach(x) + row.reach(z));
}

void write_index(size_t at, size_t index, size_t low, size_t high, Row& out) {
  out.i[at] = static_cast<int64_t>(index);
  out.set_jump(at, static_cast<double>(index - std::min(low, index)),
               static_cast<double>(std::max(high, index) - index));
}

// Tracks the best element so far, and the elements that may be the best.
class BestTracker {
 public:
  BestTracker(const Row& row, bool largest, bool last_of_equals)
      : row_(row),
        largest_(largest),
        last_(last_of_equals),
        certain_(!row.tracks.a && !row.tracks.h && !row.jumps) {}

  void enter(size_t k) {
    const bool better = empty_ || beats(k);
    empty_ = false;
    if (better) best_ = k;
    if (certain_) return;
    rivals_.push_back(k);
    if (better || rivals_.size() > kMost) drop_losers();
  }

  /// Writes the best so far, and the lowest and highest index that may be the best.
  void write(size_t at, Row& out) const {
    size_t low = best_, high = best_;
    for (const size_t k : rivals_) {
      if (!near(row_, k, best_)) continue;
      low = std::min(low, k);
      high = std::max(high, k);
    }
    write_index(at, best_, low, high, out);
  }

 private:
  static constexpr size_t kMost = 64;

  bool nan(size_t k) const { return !row_.tracks.integer && row_.t[k] != row_.t[k]; }

  // NaN always wins; among equal elements the first or the last wins.
  bool beats(size_t k) const {
    if (nan(best_)) return last_ && nan(k);
    if (nan(k)) return true;
    if (precedes(row_, k, best_, largest_)) return true;
    return last_ && !precedes(row_, best_, k, largest_);
  }

  void drop_losers() {
    const auto lost = [&](size_t k) { return k != best_ && !near(row_, k, best_); };
    rivals_.erase(std::remove_if(rivals_.begin(), rivals_.end(), lost), rivals_.end());
    if (rivals_.size() <= kMost) return;
    // Only the lowest and the highest are needed.
    const auto ends = std::minmax_element(rivals_.begin(), rivals_.end());
    rivals_ = {*ends.first, *ends.second, best_};
  }

  const Row& row_;
  bool largest_, last_, certain_;
  bool empty_ = true;
  size_t best_ = 0;
  std::vector<size_t> rivals_;
};

void best_of_all(const Row& in, bool largest, Row& out) {
  BestTracker tracker(in, largest, false);
  for (size_t k = 0; k < in.size(); ++k) tracker.enter(k);
  tracker.write(0, out);
}

void best_so_far(const RowTask& task, const Row& in, bool largest, Row& out) {
  BestTracker tracker(in, largest, true);
  const size_t length = in.size();
  for (size_t step = 0; step < length; ++step) {
    const size_t k = task.node.attrs.reverse ? length - 1 - step : step;
    tracker.enter(k);
    tracker.write(k, out);
  }
}

std::vector<size_t> ranking(const Row& in, bool descending, size_t wanted) {
  std::vector<size_t> order(in.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t x, size_t z) {
    if (precedes(in, x, z, descending)) return true;
    return !precedes(in, z, x, descending) && x < z;
  };
  const size_t sorted = std::min(in.size(), wanted);
  if (sorted == in.size()) {
    std::sort(order.begin(), order.end(), before);
    return order;
  }
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(sorted), order.end(),
                    before);
  order.resize(sorted);
  return order;
}

// The ranks that an element may have: after all that certainly precede it, before all that
// certainly follow. Equal elements keep their order unless `ties_open`.
class Ranks {
 public:
  Ranks(const Row& in, bool descending, bool ties_open) : ties_open_(ties_open) {
    const double sign = descending ? -1 : 1;
    for (size_t k = 0; k < in.size(); ++k) {
      const double v = in.value(k), reach = in.reach(k);
      const double key = std::isnan(v) ? sign * HUGE_VAL : sign * v;
      low_.emplace_back(reach == kInfinity ? -kInfinity : key - reach, k);
      high_.emplace_back(reach == kInfinity ? kInfinity : key + reach, k);
    }
    low_sorted_ = low_;
    high_sorted_ = high_;
    std::sort(low_sorted_.begin(), low_sorted_.end());
    std::sort(high_sorted_.begin(), high_sorted_.end());
  }

  size_t first(size_t k) const {
    const Key key{low_[k].first, ties_open_ ? 0 : k};
    return static_cast<size_t>(std::lower_bound(high_sorted_.begin(), high_sorted_.end(), key) -
                               high_sorted_.begin());
  }
  size_t last(size_t k) const {
    const Key key{high_[k].first, ties_open_ ? std::numeric_limits<size_t>::max() : k};
    const auto after =
        low_sorted_.end() - std::upper_bound(low_sorted_.begin(), low_sorted_.end(), key);
    return low_.size() - 1 - static_cast<size_t>(after);
  }

 private:
  using Key = std::pair<double, size_t>;
  bool ties_open_;
  std::vector<Key> low_, high_, low_sorted_, high_sorted_;
};

// Gives every free position from `first` to `last` to an element; `next` points to the next free
// position.
void claim(size_t first, size_t last, size_t element, std::vector<size_t>& next,
           std::vector<size_t>& owner) {
  const auto free_from = [&](size_t p) {
    size_t end = p;
    while (next[end] != end) end = next[end];
    while (next[p] != end) p = std::exchange(next[p], end);
    return end;
  };
  for (size_t p = free_from(std::min(first, owner.size())); p < owner.size() && p <= last;
       p = free_from(p)) {
    owner[p] = element;
    next[p] = p + 1;
  }
}

void write_order(const Row& in, const std::vector<size_t>& order, bool descending, bool ties_open,
                 Row& out) {
  const size_t wanted = out.size();
  const bool certain = !in.tracks.a && !in.tracks.h && !in.jumps && !ties_open;
  if (certain) {
    for (size_t p = 0; p < wanted; ++p) write_index(p, order[p], order[p], order[p], out);
    return;
  }
  const Ranks ranks(in, descending, ties_open);
  std::vector<size_t> lowest(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted));
  std::vector<size_t> highest = lowest, next(wanted + 1);
  std::iota(next.begin(), next.end(), size_t{0});
  for (size_t k = 0; k < in.size(); ++k) claim(ranks.first(k), ranks.last(k), k, next, lowest);
  std::iota(next.begin(), next.end(), size_t{0});
  for (size_t k = in.size(); k-- > 0;) claim(ranks.first(k), ranks.last(k), k, next, highest);
  for (size_t p = 0; p < wanted; ++p) write_index(p, order[p], lowest[p], highest[p], out);
}

// The k-th of all t + e is above the k-th true value, and the k-th of all t - e is below it.
template <class Error>
std::vector<double> moved_values(const Row& in, bool descending, size_t wanted, double side,
                                 Error error) {
  std::vector<double> values(in.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const double e = error(k);
    values[k] = e == kInfinity ? side * e : in.value(k) + side * e;
  }
  std::sort(values.begin(), values.end(),
            [&](double x, double z) { return descending ? below(z, x) : below(x, z); });
  values.resize(wanted);
  return values;
}

void spread_values(const Row& in, const std::vector<double>& e, bool descending, const Row& out,
                   std::vector<double>& errors) {
  const size_t n = out.size();
  const auto error = [&](size_t k) { return e[k]; };
  const auto up = moved_values(in, descending, n, 1, error);
  const auto down = moved_values(in, descending, n, -1, error);
  // An infinity or NaN is certain unless some error is infinite.
  const double open = contains(e, kInfinity) ? kInfinity : 0;
  for (size_t p = 0; p < n; ++p) {
    const double most = std::max(up[p] - out.t[p], out.t[p] - down[p]);
    errors[p] = std::isfinite(out.t[p]) ? most : open;
  }
}

void write_values(const Row& in, const std::vector<size_t>& order, bool descending, Row& out) {
  const size_t n = out.size();
  for (size_t p = 0; p < n; ++p) {
    if (out.tracks.integer) {
      out.i[p] = in.i[order[p]];
    } else {
      out.t[p] = in.t[order[p]];
    }
  }
  if (out.tracks.a) spread_values(in, in.a, descending, out, out.a);
  if (out.tracks.h) {
    // The sum of both errors may change an order when neither does alone.
    std::vector<double> both = in.h;
    for (size_t k = 0; k < both.size() && in.tracks.a; ++k) both[k] += kPathFactor * in.a[k];
    spread_values(in, both, descending, out, out.h);
  }
  if (!in.jumps) return;
  const auto error = [&](size_t k) { return in.reach(k); };
  const auto up = moved_values(in, descending, n, 1, error);
  const auto down = moved_values(in, descending, n, -1, error);
  double open = 0;
  for (size_t k = 0; k < in.size(); ++k) open = in.reach(k) == kInfinity ? kInfinity : open;
  for (size_t p = 0; p < n; ++p) {
    const double v = out.value(p);
    const bool known = std::isfinite(v);
    out.set_jump(p, known ? std::max(0.0, v - down[p]) : open,
                 known ? std::max(0.0, up[p] - v) : open);
  }
}

}  // namespace

void rank_row(const RowTask& task, const Row& in, Row& out) {
  const bool descending = task.node.attrs.descending;
  switch (task.node.op) {
    case Op::ArgMax:
    case Op::ArgMin:
      return best_of_all(in, task.node.op == Op::ArgMax, out);
    case Op::CumMaxIndex:
    case Op::CumMinIndex:
      return best_so_far(task, in, task.node.op == Op::CumMaxIndex, out);
    case Op::SortIndices:
    case Op::TopKIndices:
      return write_order(in, ranking(in, descending, out.size()), descending,
                         task.node.op == Op::TopKIndices, out);
    default:
      return write_values(in, ranking(in, descending, out.size()), descending, out);
  }
}

}  // namespace kw::truth
