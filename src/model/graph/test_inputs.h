// Inputs for the graphs that tests of the compositions build. For tests only.
#pragma once

#include <limits>
#include <utility>

#include "graph/builder.h"

namespace kw::graph::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr int64_t kB = 4, kD = 6;

inline const Dim& dim_b() {
  static const Dim dim = Dim::symbol("B", kB);
  return dim;
}
inline const Dim& dim_d() {
  static const Dim dim = Dim::symbol("D", kD);
  return dim;
}

struct Inputs {
  Builder& b;
  NodeId half(const char* name, Shape shape) {
    return b.input(name, tensor::DType::Fp16, std::move(shape));
  }
  NodeId single(const char* name, Shape shape) {
    return b.input(name, tensor::DType::Fp32, std::move(shape));
  }
  NodeId index(const char* name, Shape shape) {
    return b.input(name, tensor::DType::Int64, std::move(shape));
  }
};

}  // namespace kw::graph::test
