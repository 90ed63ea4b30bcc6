// One op on one element, in fp64 or exact integers: the meaning of every pointwise op in one place.
// Chunk loops (pointwise.cpp) have fast versions of the common ones.
#pragma once

#include <cstdint>

#include "graph/op.h"
#include "tensor/dtype.h"

namespace kw::truth {

double apply(graph::Op op, double x);
double apply(graph::Op op, double x, double z);

/// Eq … Ge.
bool compare(graph::Op op, double x, double z);
bool compare(graph::Op op, int64_t x, int64_t z, tensor::DType type);

/// Integers and bool; results wrap as the type does. Division by zero gives -1 (floor) or the
/// dividend (remainders): the callers refuse it before.
int64_t apply(graph::Op op, int64_t x, tensor::DType type);
int64_t apply(graph::Op op, int64_t x, int64_t z, tensor::DType type);

/// Conversions as PyTorch's CUDA kernels do them: towards zero; NaN and what does not fit give
/// some integer, the same on every host.
int64_t to_integer(double x, tensor::DType type);
double to_double(int64_t x, tensor::DType type);

/// Rounded once to a float format: infinity beyond its range, NaN where it has no infinity.
double rounded(tensor::DType type, double x);

}  // namespace kw::truth
