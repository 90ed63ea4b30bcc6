// What happens to results beyond the range of their type. The truth itself is computed without
// limits; the interpreter computes it again for each way in which kernels may overflow.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/dtype.h"
#include "truth/sum_rules.h"

namespace kw::truth {

/// Bits: how results of a node leave the range of its type.
enum Beyond : uint8_t {
  kBeyondPath = 1,  // larger than the type that sums and functions are computed in
  kBeyondHalf = 2,  // larger than the half type that the node is rounded to
  kBeyondUp = 4,    // a sum: the positive terms alone leave the range
  kBeyondDown = 8,  // a sum: the negative terms alone do
  kBeyondNear = 16  // some result is within its error of the limit
};

/// A sum that may overflow in both directions gives what its order of additions decides.
enum class SumOrder : uint8_t {
  Up,        // to +inf if possible, otherwise to -inf
  Down,      // to -inf if possible, otherwise to +inf
  Both,      // NaN if both are possible, otherwise the possible one
  OnlyUp,    // only to +inf
  OnlyDown,  // only to -inf
};

/// One way to overflow: which nodes do.
struct OverflowCase {
  std::vector<uint8_t> at;  // by node: kBeyondPath, kBeyondHalf, or both
  SumOrder order = SumOrder::Up;
  bool eager = false;      // results within their error of the limit overflow too
  bool saturates = false;  // formats of 8 bits and fewer clip to their largest value
};

/// The range of one node, and what happens beyond it in this run.
struct NodeRange {
  double path = 0, half = 0;  // larger magnitudes overflow
  double largest = 0;         // the largest finite value of the node's type
  bool has_infinity = true;   // otherwise the type overflows to NaN
  uint8_t clamp = 0;          // which limits apply; 0: none
  SumOrder order = SumOrder::Up;
  bool eager = false, saturates = false;
  bool mean = false;  // a sum that is divided by a constant: see limit_sum()
};

/// `overflow` may be null: nothing overflows. A node that does not `round` has no limits.
NodeRange range_of(tensor::DType type, bool rounds, const OverflowCase* overflow, int node);

/// Sums of the positive and of the negative finite terms, both as magnitudes.
struct SumEnds {
  double up = 0, down = 0;
  bool apart = false;  // each was added up by itself; otherwise both are differences
};
/// From the sum of the magnitudes and the sum of the finite terms, both added in fp64.
inline SumEnds sum_ends(double size, double net) {
  return {(size + net) / 2, (size - net) / 2, false};
}

/// Each returns bits of Beyond, and replaces a value beyond a limit that applies. A mean may be
/// updated term by term and merged (Welford), so that differences of terms overflow where no sum
/// does, and every overflow may end as NaN.
uint8_t limit_value(const NodeRange& range, TrackedValue& y);
uint8_t limit_sum(const NodeRange& range, const SumEnds& ends, TrackedValue& y);
/// The same for a cast that rounds: x with the error e gave y. Newer PyTorch clips e4m3, older
/// gives NaN; CUDA's conversions clip both formats. A kernel that does nothing of this is wrong.
uint8_t limit_snapped(const NodeRange& range, double x, double e, double& y);
/// `size` and `small`: the products of the factors above and below 1.
uint8_t limit_product(const NodeRange& range, double size, double small, TrackedValue& y);

/// Flags set while chunks are computed; shared by all threads.
struct Findings {
  explicit Findings(size_t nodes) : beyond(new std::atomic<uint8_t>[nodes]()) {}

  std::atomic<bool> unbounded = false;             // some error is infinite
  std::atomic<bool> divides_by_zero = false;       // an integer was divided by zero
  std::unique_ptr<std::atomic<uint8_t>[]> beyond;  // by node: bits of Beyond

  void mark(int node, uint8_t bits) {
    std::atomic<uint8_t>& known = beyond[static_cast<size_t>(node)];
    if ((bits & ~known.load()) != 0) known.fetch_or(bits);
  }
};

}  // namespace kw::truth
