// Indices are right when what they point at is: an honest kernel whose scores differ within their
// bounds may order near-equal ones otherwise.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "verify/parallel.h"
#include "verify/tally.h"

namespace kw::verify {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kGrain = 1 << 14;

/// The scores along one line of the selected dim, best first where asked.
class Line {
 public:
  Line(const exec::Scores& scores, int64_t inner) : scores_(scores), inner_(inner) {}

  void enter(int64_t outer, int64_t at) { base_ = outer * scores_.extent * inner_ + at; }
  double score(int64_t i) const { return scores_.value[position(i)]; }
  double bound(int64_t i) const {
    return scores_.bound.empty() ? 0 : static_cast<double>(scores_.bound[position(i)]);
  }

  // PyTorch counts NaN as the largest value; argmin (the only "first" among the smallest) lets it
  // win too.
  bool better(int64_t a, int64_t b) const {
    const double x = score(a), y = score(b);
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) && std::isnan(y)) return false;
      const bool nan_wins = scores_.largest || scores_.first_of_ties;
      return std::isnan(x) == nan_wins;
    }
    return scores_.largest ? x > y : x < y;
  }

  /// Positions of the `count` best, in order.
  const std::vector<int64_t>& best(int64_t count) {
    order_.resize(static_cast<size_t>(scores_.extent));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    const auto by_score = [this](int64_t a, int64_t b) {
      return better(a, b) || (!better(b, a) && a < b);
    };
    std::partial_sort(order_.begin(), order_.begin() + count, order_.end(), by_score);
    return order_;
  }

  /// z of index `got` at a place that `best` deserves: the scores may differ by both their bounds.
  double distance(int64_t got, int64_t best_index) const {
    const double x = score(got), y = score(best_index);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    if (!std::isfinite(x) || !std::isfinite(y)) return kInfinity;
    const double allowed = bound(got) + bound(best_index);
    const double apart = std::fabs(x - y);
    return allowed > 0 ? apart / allowed : kInfinity;
  }

  bool tied_exactly(int64_t a, int64_t b) const {
    return score(a) == score(b) && bound(a) == 0 && bound(b) == 0;
  }

 private:
  size_t position(int64_t i) const { return static_cast<size_t>(base_ + i * inner_); }

  const exec::Scores& scores_;
  int64_t inner_;
  int64_t base_ = 0;
  std::vector<int64_t> order_;
};

class IndexJudge {
 public:
  IndexJudge(const exec::Truth& truth, const tensor::HostTensor& got)
      : truth_(truth), scores_(*truth.scores), got_(got) {
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
      const std::vector<int64_t>& best = line.best(std::min(many_, scores_.extent));
      for (int64_t j = 0; j < many_; ++j) judge(number, j, best, line, &seen, tally);
    }
  }

 private:
  void judge(int64_t number, int64_t j, const std::vector<int64_t>& best, const Line& line,
             std::vector<int64_t>* seen, Tally* tally) const {
    const int64_t element = ((number / inner_) * many_ + j) * inner_ + number % inner_;
    const int64_t index = integer_at(got_, element);
    const int64_t want = best[static_cast<size_t>(j)];
    ++tally->elements;
    const auto add = [&](double z, Why why) {
      tally->add(element, static_cast<double>(index), static_cast<double>(want), 0, z,
                 std::fabs(static_cast<double>(index) - static_cast<double>(want)), why);
    };
    if (index < 0 || index >= scores_.extent) return add(kInfinity, Why::IndexOutOfRange);
    int64_t& last_line = (*seen)[static_cast<size_t>(index)];
    if (last_line == number) return add(kInfinity, Why::IndexTwice);
    last_line = number;
    if (index == want) return;
    if (scores_.first_of_ties && line.tied_exactly(index, want))
      return add(kInfinity, Why::NotFirstOfTies);
    const double z = line.distance(index, want);
    if (z > 0) add(z, Why::IndexOfWorse);
  }

  const exec::Truth& truth_;
  const exec::Scores& scores_;
  const tensor::HostTensor& got_;
  int64_t outer_ = 1, inner_ = 1, many_ = 0;
};

}  // namespace

Comparison compare_indices(const exec::Truth& truth, const tensor::HostTensor& got,
                           const CompareOptions& options) {
  const IndexJudge judge(truth, got);
  const int pieces = static_cast<int>(std::min<int64_t>(
      thread_count(judge.work(), kGrain, options.threads), std::max<int64_t>(judge.lines(), 1)));
  std::vector<Tally> tallies(static_cast<size_t>(pieces));
  in_pieces(judge.lines(), pieces, [&](int piece, int64_t begin, int64_t end) {
    judge.run(begin, end, &tallies[static_cast<size_t>(piece)]);
  });
  return conclude(truth, tallies);
}

}  // namespace kw::verify
