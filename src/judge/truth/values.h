// What is carried for every element: the value in fp64 (integers as int64), the error of the fp32
// path `a`, that of the half roundings `h`, and how far below and above the value another branch of
// a near discontinuity lies, `lo` and `hi`. In whole tensors and in chunks that stay in cache.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/result.h"
#include "tensor/host_tensor.h"
#include "truth/view.h"

namespace kw::truth {

inline constexpr int kChunk = 1024;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Which of the arrays hold something.
struct Tracks {
  bool integer = false;  // `i` instead of `t`
  bool a = false, h = false;
};

/// A few registers of an interpreter of chunks. What `tracks` of its node deny is not read.
struct Lanes {
  alignas(64) double t[kChunk];
  alignas(64) double a[kChunk];
  alignas(64) double h[kChunk];
  alignas(64) double lo[kChunk];
  alignas(64) double hi[kChunk];
  alignas(64) int64_t i[kChunk];
  bool jumps = false;  // whether lo and hi hold something
};

/// A whole node.
struct Tensor {
  tensor::DType dtype = tensor::DType::Fp32;
  Extents shape;
  Tracks tracks;
  tensor::Large<double> t;
  tensor::Large<int64_t> i;
  tensor::Large<float> a, h;
  tensor::Large<float> lo, hi;  // empty unless something jumps

  int64_t count() const { return static_cast<int64_t>(tracks.integer ? i.size() : t.size()); }
  /// Makes room for lo and hi. Safe to call from several threads that fill the tensor.
  void make_jumps();
};

/// Zero-filled. Throws std::bad_alloc.
Tensor make_values(tensor::DType dtype, const Extents& shape, Tracks tracks);
/// Bytes make_values would take.
uint64_t bytes_of(int64_t count, Tracks tracks);

/// A bound as stored: never rounded to less than it was, infinite when unknown. Choices instead of
/// branches, and never a function of its own: loops for every x86-64 level contain it.
[[gnu::always_inline]] inline float stored_bound(double bound) {
  const float nearest = static_cast<float>(bound);
  const float up = static_cast<double>(nearest) < bound ? nearest * 0x1.000002p0f : nearest;
  const float least = std::numeric_limits<float>::denorm_min();
  const float known = up > least ? up : least;
  const float other = bound == 0 ? 0.0f : std::numeric_limits<float>::infinity();
  return bound > 0 ? known : other;
}

bool is_integer(tensor::DType type);  // bool too
/// Keeps the bits that fit in the integer type, sign-extended or not as it says; bool: 0 or 1.
int64_t wrapped(tensor::DType type, int64_t value);

/// Chunks in and out of tensors, through coalesced views, from row-major position `start`.
void load(const tensor::HostTensor& from, const View& view, int64_t start, int count, Lanes& to);
void load(const Tensor& from, const View& view, int64_t start, int count, Lanes& to);
/// Single elements at any addresses.
void load_at(const tensor::HostTensor& from, const int64_t* addresses, int count, Lanes& to);
void load_at(const Tensor& from, const int64_t* addresses, int count, Lanes& to);
/// `tracks` are those of the lanes; where they say nothing the tensor keeps what it has.
void store(const Lanes& from, Tracks tracks, int64_t start, int count, const View& view,
           Tensor& to);

}  // namespace kw::truth
