// The port of the oracle: computes the graph in fp64, and for every element the error that an
// honest kernel of the declared precision may have. docs/error-bound.md derives the rules; bound.h
// has the constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "tensor/host_tensor.h"

namespace kw::ports {

/// For an index output: the values that the index points at. Every equally good index is accepted.
struct Scores {
  int dim = 0;         // dim that the index counts along
  int64_t extent = 0;  // of that dim in the scores
  bool largest = true;
  bool first_of_ties = false;   // PyTorch documents this for argmax, argmin, max, min
  std::vector<int64_t> shape;   // of the scores
  tensor::Large<double> value;  // in the scores' layout
  tensor::Large<float> bound;   // B of each score
  /// What the index at position j along `dim` means: the best of all, the j-th best (sort, topk),
  /// or the best of 0 … j (cummax; of j … when `reverse`).
  enum class Rank : uint8_t { Best, Order, Prefix } rank = Rank::Best;
  bool reverse = false;
  int64_t skip = 0;        // Order: better elements before the first output (kthvalue)
  bool nan_first = false;  // if a line has NaN, the index must point to a NaN (median)
};

/// Bits of Truth::may_overflow: what an element may be besides its value.
enum MayBe : uint8_t {
  kMayBeUp = 1,     // +inf
  kMayBeDown = 2,   // -inf
  kMayBeNan = 4,    // NaN
  kMayBeOther = 8,  // one of Truth::others
};

/// A value that a kernel of the declared precision gives where some intermediate result overflows.
struct OtherValue {
  int64_t index = 0;
  double value = 0;
  double bound = 0;  // B of this value
};

/// One output. All vectors but `others` have one entry per element, row-major.
struct Truth {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  tensor::Large<double> value;      // also integers and bool (exact to 2^53); see `integers`
  tensor::Large<int64_t> integers;  // exact, if dtype is an integer or bool; otherwise empty
  tensor::Large<float> a;           // error of the fp32 path; empty when all zero
  tensor::Large<float> h;           // error of half and fp8 roundings; empty when all zero
  tensor::Large<float> jump;  // distance to the other side of a near discontinuity; empty when none
  tensor::Large<uint8_t> may_overflow;  // bits of MayBe; empty when all zero
  std::vector<OtherValue> others;       // sorted by index
  bool exact = false;                   // only exact ops were used: equal bits are required
  /// The rms of z that plain fp32 evaluations have on these inputs (docs/error-bound.md, "Long
  /// sums"); 0: not known.
  double plain_z = 0;
  /// The largest z of plain evaluations in the declared precision, where the task states a tolerance
  /// (docs/error-bound.md, "Stated tolerances"); 0: not known.
  double plain_max_z = 0;
  std::optional<Scores> scores;
};

struct TruthOptions {
  int threads = 0;  // 0: all cores
  bool allow_tf32 = false;
  uint64_t max_bytes = uint64_t{64} << 30;  // memory limit for all data held at once
  bool flush = false;                       // kernels may flush fp32 subnormals to zero
  int serial = 0;  // op_by_op: every sum is one chain, in an order that the number chooses
};

class Oracle {
 public:
  virtual ~Oracle();
  /// `inputs` is parallel to graph.inputs. Errors: wrong shapes or dtypes, too little memory,
  /// indices out of range.
  virtual Result<std::vector<Truth>> truth(const graph::Graph& graph,
                                           const std::vector<tensor::HostTensor>& inputs,
                                           const TruthOptions& options) = 0;
  /// Rounds every op to the dtype of its node, with half types computed in fp32, as an unfused run
  /// does.
  virtual Result<std::vector<tensor::HostTensor>> op_by_op(
      const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
      const TruthOptions& options) = 0;
  /// What computed the truths so far, for a report: "CPU", "4 on NVIDIA H200, 20 on the CPU".
  virtual std::string made_by() const { return "CPU"; }
};

}  // namespace kw::ports
