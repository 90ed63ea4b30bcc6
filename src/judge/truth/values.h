// The data stored for every element. `t` is the value in fp64 (`i` for integers), `a` the error of
// the fp32 path, `h` the error of the half roundings. `lo` and `hi` are jumps: how far below and
// above the value the other side of a near discontinuity lies. They exist for whole tensors, and
// for chunks that stay in cache.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"
#include "truth/rules.h"
#include "truth/view.h"

namespace kw::truth {

inline constexpr int kChunk = 1024;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Which of the arrays are used.
struct Tracks {
  bool integer = false;  // `i` instead of `t`
  bool a = false, h = false;
};

/// One register of the chunk interpreter. Arrays that the node's `tracks` exclude are not read.
struct VectorLanes {
  alignas(64) double t[kChunk];
  alignas(64) double a[kChunk];
  alignas(64) double h[kChunk];
  alignas(64) double lo[kChunk];
  alignas(64) double hi[kChunk];
  alignas(64) int64_t i[kChunk];
  bool jumps = false;  // whether lo and hi are set
};

/// The values of a whole node.
struct Tensor {
  tensor::DType dtype = tensor::DType::Fp32;
  Extents shape;
  Tracks tracks;
  tensor::Large<double> t;
  tensor::Large<int64_t> i;
  tensor::Large<float> a, h;
  tensor::Large<float> lo, hi;  // empty unless an element jumps

  int64_t count() const { return static_cast<int64_t>(tracks.integer ? i.size() : t.size()); }
  /// Allocates lo and hi. Threads that fill the tensor may call it concurrently.
  void make_jumps();
};

/// Returns zero-filled values. Throws std::bad_alloc.
Tensor make_values(tensor::DType dtype, const Extents& shape, Tracks tracks);
/// Returns the bytes that make_values would allocate.
uint64_t bytes_of(int64_t count, Tracks tracks);

bool is_integer(tensor::DType type);  // true for bool too
/// Keeps the bits that fit the integer type, with its sign extension; bool: 0 or 1.
int64_t wrapped(tensor::DType type, int64_t value);

/// Load and store chunks of tensors through coalesced views, from row-major position `start`.
void load(const tensor::HostTensor& from, const View& view, int64_t start, int count,
          VectorLanes& to);
void load(const Tensor& from, const View& view, int64_t start, int count, VectorLanes& to);
/// Load single elements at any addresses.
void load_at(const tensor::HostTensor& from, const int64_t* addresses, int count, VectorLanes& to);
void load_at(const Tensor& from, const int64_t* addresses, int count, VectorLanes& to);
/// `tracks` belong to the lanes; the tensor's other arrays stay unchanged.
void store(const VectorLanes& from, Tracks tracks, int64_t start, int count, const View& view,
           Tensor& to);

}  // namespace kw::truth
