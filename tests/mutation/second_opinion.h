// A second interpreter of graphs, for tests that judge the judge. It shares no code with the oracle
// (src/judge/truth): every op is written again, as one plain loop over elements in long double. It
// gives values only, no error bounds. It is slow, and not for large tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "tensor/dtype.h"
#include "tensor/host_tensor.h"

namespace kw::mutation {

/// The elements of one node, row-major.
struct WideTensor {
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<int64_t> shape;
  std::vector<long double> value;
  /// Of integer and bool dtypes: exact (uint64 as the same bits), and `value` holds a copy. Empty
  /// for floats.
  std::vector<int64_t> integers;
};

/// The value of every output of a graph in long double: casts between float types are identity,
/// integers are exact, sums are one chain. `inputs` is parallel to graph.inputs. An input Error
/// names the op that it does not know, or whose dtype or index it cannot use.
Result<std::vector<WideTensor>> second_opinion(const graph::Graph& graph,
                                               const std::vector<tensor::HostTensor>& inputs);

/// The same with every node rounded to its dtype, as an unfused run in the declared precision does.
/// Half types are computed in fp32 and then rounded; sums are one chain in fp32 (fp64 for fp64).
Result<std::vector<WideTensor>> rounded_opinion(const graph::Graph& graph,
                                                const std::vector<tensor::HostTensor>& inputs);

}  // namespace kw::mutation
