// Ops that read a line from one end to the other: scans, sorts and top-k. NaN is above all numbers
// in an order, and stays the largest or smallest of a scan once it has come.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

/// The positions of line `which` in the order of the scan.
std::vector<int64_t> walked(const Step& step, const Lines& lines, size_t which) {
  std::vector<int64_t> positions;
  for (int64_t k = 0; k < lines.length; ++k)
    positions.push_back(lines.starts[which] + k * lines.stride);
  if (step.node.attrs.reverse) std::reverse(positions.begin(), positions.end());
  return positions;
}

void scan_sums(const Step& step, const std::vector<int64_t>& positions, WideTensor& out) {
  Chain chain(step, step.node.op == Op::CumProd);
  for (const int64_t at : positions) {
    if (step.node.attrs.exclusive) chain.write(out, at);
    chain.take(step.x(), at);
    if (!step.node.attrs.exclusive) chain.write(out, at);
  }
}

/// log(exp(x) + exp(z)).
Real log_sum(Real x, Real z) {
  if (std::isnan(x) || std::isnan(z)) return x + z;
  const Real high = std::max(x, z), low = std::min(x, z);
  if (std::isinf(high)) return high;
  return high + std::log1p(std::exp(low - high));
}

void scan_log_sums(const Step& step, const std::vector<int64_t>& positions, WideTensor& out) {
  Real sum = -std::numeric_limits<Real>::infinity();
  for (const int64_t at : positions) {
    const auto k = static_cast<size_t>(at);
    sum = chained(step, log_sum(sum, step.x().value[k]));
    out.value[k] = sum;
  }
}

/// CumMax, CumMin and their indices: the last of equals, and the last NaN.
void scan_best(const Step& step, const std::vector<int64_t>& positions, const Lines& lines,
               int64_t start, WideTensor& out) {
  const Op op = step.node.op;
  const bool largest = op == Op::CumMax || op == Op::CumMaxIndex;
  const bool values = op == Op::CumMax || op == Op::CumMin;
  int64_t best = positions.empty() ? 0 : positions[0];
  for (const int64_t at : positions) {
    const Real v = step.x().value[static_cast<size_t>(at)];
    const Real old = step.x().value[static_cast<size_t>(best)];
    const bool as_good = largest ? v >= old : v <= old;
    if (std::isnan(v) || (!std::isnan(old) && as_good)) best = at;
    if (values) {
      copy_element(step.x(), best, out, at);
    } else {
      set_integer(out, at, (best - start) / lines.stride);
    }
  }
}

bool is_before(Real x, Real z) { return x < z || (!std::isnan(x) && std::isnan(z)); }

/// The places within a line, best first; equal elements keep their order.
std::vector<int64_t> ranked(const Step& step, const Lines& lines, size_t which) {
  const auto value = [&](int64_t k) {
    return step.x().value[static_cast<size_t>(lines.starts[which] + k * lines.stride)];
  };
  std::vector<int64_t> order(static_cast<size_t>(lines.length));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t z) {
    return step.node.attrs.descending ? is_before(value(z), value(x))
                                      : is_before(value(x), value(z));
  });
  return order;
}

}  // namespace

Result<WideTensor> scan(const Step& step) {
  WideTensor out = zeros_of(step);
  const Lines lines = lines_along(step.x().shape, step.dim());
  for (size_t m = 0; m < lines.starts.size(); ++m) {
    const std::vector<int64_t> positions = walked(step, lines, m);
    switch (step.node.op) {
      case Op::CumSum:
      case Op::CumProd:
        scan_sums(step, positions, out);
        break;
      case Op::CumLogSumExp:
        scan_log_sums(step, positions, out);
        break;
      case Op::CumMax:
      case Op::CumMin:
      case Op::CumMaxIndex:
      case Op::CumMinIndex:
        scan_best(step, positions, lines, lines.starts[m], out);
        break;
      default:
        return step.refuse("is not a known scan");
    }
  }
  return out;
}

Result<WideTensor> selection(const Step& step) {
  const Op op = step.node.op;
  const bool values = op == Op::SortValues || op == Op::TopKValues;
  const bool indices = op == Op::SortIndices || op == Op::TopKIndices;
  if (!values && !indices) return step.refuse("is not a known selection");
  WideTensor out = zeros_of(step);
  const Lines from = lines_along(step.x().shape, step.dim());
  const Lines to = lines_along(out.shape, step.dim());
  for (size_t m = 0; m < to.starts.size(); ++m) {
    const std::vector<int64_t> order = ranked(step, from, m);
    for (int64_t k = 0; k < to.length; ++k) {
      const int64_t place = order[static_cast<size_t>(k)], target = to.starts[m] + k * to.stride;
      if (values) {
        copy_element(step.x(), from.starts[m] + place * from.stride, out, target);
      } else {
        set_integer(out, target, place);
      }
    }
  }
  return out;
}

}  // namespace kw::mutation
