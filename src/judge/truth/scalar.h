// One op on one element, in fp64 or exact integers: the definition of every pointwise op. The chunk
// loops have faster versions of the common ones.
#pragma once

#include <cstdint>

#include "graph/graph_op.h"
#include "tensor/dtype.h"

namespace kw::truth {

double apply(graph::Op op, double x);
double apply(graph::Op op, double x, double z);

/// Eq … Ge.
bool compare(graph::Op op, double x, double z);
bool compare(graph::Op op, int64_t x, int64_t z, tensor::DType type);

/// Integers and bool; results wrap to the type. Division by zero gives -1 (floor) or the dividend
/// (remainders); the run reports it as an Error.
int64_t apply(graph::Op op, int64_t x, tensor::DType type);
int64_t apply(graph::Op op, int64_t x, int64_t z, tensor::DType type);

/// Converts like PyTorch's CUDA kernels: towards zero. NaN and values out of range give a fixed
/// integer, the same on every host.
int64_t to_integer(double x, tensor::DType type);
double to_double(int64_t x, tensor::DType type);

/// Rounds once to a float format: infinity beyond its range, NaN if it has no infinity.
double rounded(tensor::DType type, double x);
/// The same as if the format had no end.
double snapped(tensor::DType type, double x);

}  // namespace kw::truth
