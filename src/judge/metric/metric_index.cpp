// The problem: argmax, sort and top-k return indices, and an index has no error bound. An honest
// kernel's scores differ within their bounds, so it may order nearly equal scores differently. Each
// index is therefore judged by the score that it selects: that may differ from the best by the sum
// of both bounds. The alternative, equal indices, would reject honest kernels. The cost is a
// partial sort of each line's true scores. Indices out of range or used twice always fail.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "metric/tally.h"
#include "os/parallel.h"

namespace kw::metric {

namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();
constexpr int64_t kIndexGrain = 1 << 14;

/// The scores along one line of the selected dim.
class Line {
 public:
  Line(const ports::Scores& scores, int64_t inner) : scores_(scores), inner_(inner) {}

  void enter(int64_t outer, int64_t at) { base_ = outer * scores_.extent * inner_ + at; }
  double score(int64_t i) const { return scores_.value[position(i)]; }
  double bound(int64_t i) const {
    return scores_.bound.empty() ? 0 : static_cast<double>(scores_.bound[position(i)]);
  }

  // PyTorch treats NaN as the largest value. argmin, the only case with the smallest value and
  // first_of_ties, returns NaN too.
  bool better(int64_t a, int64_t b) const {
    const double x = score(a), y = score(b);
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) && std::isnan(y)) return false;
      const bool best_is_nan = scores_.first_of_ties && scores_.rank == ports::Scores::Rank::Best;
      const bool nan_wins = scores_.largest || best_is_nan;
      return std::isnan(x) == nan_wins;
    }
    return scores_.largest ? x > y : x < y;
  }

  /// Returns the positions of the `count` best, in order.
  const std::vector<int64_t>& best(int64_t count) {
    order_.resize(static_cast<size_t>(scores_.extent));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    const auto by_score = [this](int64_t a, int64_t b) {
      return better(a, b) || (!better(b, a) && a < b);
    };
    std::partial_sort(order_.begin(), order_.begin() + count, order_.end(), by_score);
    return order_;
  }

  std::optional<int64_t> first_nan() const {
    for (int64_t i = 0; i < scores_.extent; ++i) {
      if (std::isnan(score(i))) return i;
    }
    return std::nullopt;
  }

  /// Returns the best among 0 … j (or j … when reversed); `before` is the result for the previous
  /// position.
  int64_t best_so_far(int64_t j, int64_t before) const {
    return before >= 0 && !better(j, before) ? before : j;
  }

  /// Returns z of index `got` where `best_index` is right: the scores may differ by the sum of
  /// their bounds.
  double distance(int64_t got, int64_t best_index) const {
    const double x = score(got), y = score(best_index);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    if (!std::isfinite(x) || !std::isfinite(y)) return kNoBound;
    const double allowed = bound(got) + bound(best_index);
    const double apart = std::fabs(x - y);
    return allowed > 0 ? apart / allowed : kNoBound;
  }

  bool tied_exactly(int64_t a, int64_t b) const {
    return score(a) == score(b) && bound(a) == 0 && bound(b) == 0;
  }

 private:
  size_t position(int64_t i) const { return static_cast<size_t>(base_ + i * inner_); }

  const ports::Scores& scores_;
  int64_t inner_;
  int64_t base_ = 0;
  std::vector<int64_t> order_;
};

class IndexJudge {
 public:
  IndexJudge(const ports::Truth& truth, const tensor::HostTensor& got)
      : scores_(*truth.scores), got_(got) {
    for (size_t i = 0; i < scores_.shape.size(); ++i) {
      if (static_cast<int>(i) < scores_.dim) outer_ *= scores_.shape[i];
      if (static_cast<int>(i) > scores_.dim) inner_ *= scores_.shape[i];
    }
    const int64_t lines = outer_ * inner_;
    many_ = lines == 0 ? 0 : static_cast<int64_t>(truth.value.size()) / lines;
  }

  int64_t lines() const { return many_ == 0 ? 0 : outer_ * inner_; }
  int64_t work() const { return lines() * std::max<int64_t>(scores_.extent, 1); }

  void run(int64_t begin, int64_t end, Tally* tally) const {
    Line line(scores_, inner_);
    std::vector<int64_t> seen(static_cast<size_t>(scores_.extent), -1);
    for (int64_t number = begin; number < end; ++number) {
      line.enter(number / inner_, number % inner_);
      if (scores_.rank == ports::Scores::Rank::Prefix) {
        judge_prefixes(number, line, tally);
        continue;
      }
      const std::vector<int64_t>& best = line.best(std::min(scores_.skip + many_, scores_.extent));
      const std::optional<int64_t> nan = scores_.nan_first ? line.first_nan() : std::nullopt;
      for (int64_t j = 0; j < many_; ++j) {
        const int64_t index = index_at(number, j);
        const int64_t want = nan.value_or(best[static_cast<size_t>(scores_.skip + j)]);
        ++tally->elements;
        if (index < 0 || index >= scores_.extent) {
          fail(number, j, want, kNoBound, ElementFault::IndexOutOfRange, tally);
        } else if (std::exchange(seen[static_cast<size_t>(index)], number) == number) {
          fail(number, j, want, kNoBound, ElementFault::IndexTwice, tally);
        } else {
          judge(number, j, want, line, tally);
        }
      }
    }
  }

 private:
  int64_t element(int64_t number, int64_t j) const {
    return ((number / inner_) * many_ + j) * inner_ + number % inner_;
  }
  int64_t index_at(int64_t number, int64_t j) const { return integer_at(got_, element(number, j)); }

  void fail(int64_t number, int64_t j, int64_t want, double z, ElementFault why,
            Tally* tally) const {
    const auto got = static_cast<double>(index_at(number, j));
    const auto wanted = static_cast<double>(want);
    tally->add(element(number, j), got, wanted, 0, z, std::fabs(got - wanted), why);
  }

  void judge(int64_t number, int64_t j, int64_t want, const Line& line, Tally* tally) const {
    tally->telling += line.distance(0, want) > 0 ? 1 : 0;
    const int64_t index = index_at(number, j);
    if (index == want) return;
    if (scores_.first_of_ties && line.tied_exactly(index, want))
      return fail(number, j, want, kNoBound, ElementFault::NotFirstOfTies, tally);
    const double z = line.distance(index, want);
    if (z > 0) fail(number, j, want, z, ElementFault::IndexOfWorse, tally);
  }

  void judge_prefixes(int64_t number, const Line& line, Tally* tally) const {
    int64_t best = -1;
    for (int64_t step = 0; step < many_; ++step) {
      const int64_t j = scores_.reverse ? many_ - 1 - step : step;
      best = line.best_so_far(j, best);
      const int64_t index = index_at(number, j);
      const bool reached = scores_.reverse ? index >= j && index < many_ : index >= 0 && index <= j;
      ++tally->elements;
      if (reached)
        judge(number, j, best, line, tally);
      else
        fail(number, j, best, kNoBound, ElementFault::IndexOutOfRange, tally);
    }
  }

  const ports::Scores& scores_;
  const tensor::HostTensor& got_;
  int64_t outer_ = 1, inner_ = 1, many_ = 0;
};

}  // namespace

Comparison compare_indices(const ports::Truth& truth, const tensor::HostTensor& got,
                           const CompareOptions& options) {
  const IndexJudge judge(truth, got);
  const int pieces = static_cast<int>(
      std::min<int64_t>(os::thread_count(judge.work(), kIndexGrain, options.threads),
                        std::max<int64_t>(judge.lines(), 1)));
  std::vector<Tally> tallies(static_cast<size_t>(pieces));
  os::in_pieces(judge.lines(), pieces, [&](int piece, int64_t begin, int64_t end) {
    judge.run(begin, end, &tallies[static_cast<size_t>(piece)]);
  });
  return conclude(truth, tallies);
}

}  // namespace kw::metric
