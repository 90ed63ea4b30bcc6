// Passes that are merged with the one before: sums that follow a maximum or a mean while it is
// computed.
#include <utility>

#include "emit/emit.h"
#include "rows/row_kernel.h"

namespace kw::generate {

// The sum is rescaled only if the maximum grew so much that exponentials could overflow. That is
// rare, and every rescaling costs a rounding.
std::string RowKernel::online_steps(const std::vector<NodeId>& reductions) {
  std::map<NodeId, std::vector<NodeId>> sums;  // by their maximum
  for (const NodeId id : reductions) {
    const auto found = plan_.rescaled.find(id);
    if (found != plan_.rescaled.end()) sums[found->second.max].push_back(id);
  }
  if (sums.empty()) return "";
  const std::string lowest = identity_of(Op::Max, DType::Fp32);
  e_.need("rescaled");
  CudaWriter& w = e_.at(pack_scope_);
  for (const auto& [max, behind] : sums) {
    const std::string base = e_.fresh_variable("row_base", row_scope_), now = totals_.at(max);
    bases_[max] = base;
    {
      const auto grown = w.block("if ({} > {} + 8.0f)", now, base);
      for (const NodeId id : behind)
        w.line("{0} = rescaled({0}, {1}, {2});", totals_.at(id), base, now);
      w.line("{} = {};", base, now);
    }
    const std::string shift = e_.fresh_variable("shift", pack_scope_);
    w.line("const float {0} = {1} == {2} ? 0.0f : {1};", shift, base, lowest);
    results_[max] = {{shift}, pack_scope_};
  }
  lane_scope_ = e_.open({kLane}, pack_scope_);
  for (const auto& [max, behind] : sums) {
    for (const NodeId id : behind) write_step(id);
  }
  for (const auto& [max, behind] : sums) results_.erase(max);
  const std::string lanes = e_.close();
  {
    const auto block = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.raw(lanes);
  }
  return e_.take(pack_scope_);
}

// Squares about the pack's own mean: precise even if the mean is far from zero, or one element far
// from the others.
std::string RowKernel::centred_steps(const std::vector<NodeId>& reductions) {
  CudaWriter& w = e_.at(pack_scope_);
  for (const NodeId id : reductions) {
    const auto found = plan_.centred.find(id);
    if (found == plan_.centred.end()) continue;
    const auto [sum, mean] = found->second;
    const Means& means = means_.at(sum);
    e_.need("join_squares");
    const std::string own = e_.fresh_variable("pack_mean", pack_scope_);
    const std::string squares = e_.fresh_variable("pack_squares", pack_scope_);
    w.line("{} += {};", totals_.at(sum), means.pack);
    w.line("const float {} = {} * (1.0f / kVec);", own, means.pack);
    w.line("float {} = 0.0f;", squares);
    results_[mean] = {{own}, pack_scope_};
    lane_scope_ = e_.open({kLane}, pack_scope_);
    const std::string total = std::exchange(totals_[id], squares);
    write_step(id);
    totals_[id] = total;
    results_.erase(mean);
    const std::string lanes = e_.close();
    {
      const auto block = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
      w.raw(lanes);
    }
    w.line("join_squares({}, {}, {}, kVec, {}, {});", means.count, means.mean, total, own, squares);
  }
  return e_.take(pack_scope_);
}

/// Converts the thread's squares to the mean of all elements that the threads have read.
void RowKernel::centre(NodeId id) {
  const NodeId sum = plan_.centred.at(id).sum;
  const Means& means = means_.at(sum);
  const std::string count = team_.is_split() ? "last - first" : e_.text(plan_.column_count());
  e_.at(row_scope_)
      .line("{0} = squares_about({0}, {1}, {2}, {3} / static_cast<float>({4}));", totals_.at(id),
            means.count, means.mean, totals_.at(sum), count);
}

/// Converts the sum to the final maximum of the row.
void RowKernel::rescale(NodeId id) {
  const NodeId max = plan_.rescaled.at(id).max;
  e_.at(row_scope_)
      .line("{0} = rescaled({0}, {1}, {2});", totals_.at(id), bases_.at(max), totals_.at(max));
}

}  // namespace kw::generate
