// The port of what is right: the graph in fp64, and beside every element how far an honest kernel
// of the declared precision may be from it. docs/error-bound.md derives the rules; the constants
// are in bound.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "tensor/host_tensor.h"

namespace kw::ports {

/// For an index output: the values the index points at, so that any equally good index is accepted.
struct Scores {
  int dim = 0;         // along which the index counts
  int64_t extent = 0;  // of that dim in the scores
  bool largest = true;
  bool first_of_ties = false;  // PyTorch documents it for argmax, argmin, max, min
  std::vector<int64_t> shape;  // of the scores
  tensor::Large<double> value;  // in the scores' layout
  tensor::Large<float> bound;   // B of each score
  /// What the index at position j along `dim` of the output stands for: the best of all, the j-th
  /// best (sort, topk), or the best of 0 … j (cummax; of j … when `reverse`).
  enum class Rank : uint8_t { Best, Order, Prefix } rank = Rank::Best;
  bool reverse = false;
  int64_t skip = 0;        // Order: so many better ones come before the output's first (kthvalue)
  bool nan_first = false;  // a line with NaN asks for a NaN (median)
};

/// One output. All vectors have one entry per element, row-major.
struct Truth {
  std::string name;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  tensor::Large<double> value;      // integers and bool too (exact to 2^53); see `integers` beyond
  tensor::Large<int64_t> integers;  // exact, when dtype is an integer or bool; else empty
  tensor::Large<float> a;           // fp32 path; empty when all zero
  tensor::Large<float> h;           // half and fp8 roundings; empty when all zero
  tensor::Large<float>
      jump;  // how far the other branch of a near discontinuity lies; empty when none
  tensor::Large<uint8_t> may_overflow;  // the declared precision gives inf or NaN where the truth
                                      // does not, or the other way round; empty when none
  bool exact = false;                 // only exact ops on the way: bit equality is demanded
  std::optional<Scores> scores;
};

struct TruthOptions {
  int threads = 0;  // 0: all cores
  bool allow_tf32 = false;
  uint64_t max_bytes = uint64_t{64} << 30;  // of memory for everything held at once
  bool flush = false;                       // kernels may flush fp32 subnormals to zero
};

class Oracle {
 public:
  virtual ~Oracle();
  /// `inputs` is parallel to graph.inputs. Errors: shapes or dtypes that do not fit, memory,
  /// indices out of range.
  virtual Result<std::vector<Truth>> truth(const graph::Graph& graph,
                                           const std::vector<tensor::HostTensor>& inputs,
                                           const TruthOptions& options) = 0;
  /// Every op rounded to its node's dtype, half types computed in fp32: what an unfused run gives.
  virtual Result<std::vector<tensor::HostTensor>> op_by_op(
      const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
      const TruthOptions& options) = 0;
  /// Who made the truths so far, for a report: "CPU", "4 on NVIDIA H200, 20 on the CPU".
  virtual std::string made_by() const { return "CPU"; }
};

}  // namespace kw::ports
