// The problem: chunks must be loaded from any dtype and any view, and bounds must be stored without
// rounding down. Views are split into runs of evenly spaced elements; constant and dense runs have
// fast loops. One visitor lists the storage types and conversions, so that loads need no switch per
// element. Values are stored in fp64 or int64, but errors in fp32: they need no precision, only an
// upper limit. The alternative, fp64 errors, would double the memory of a truth's bounds. The cost
// is the upward rounding in stored_bound().
#include "truth/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "core/check.h"
#include "numeric/small_float.h"
#include "truth/levels.h"

namespace kw::truth {

using tensor::HostTensor;

void Tensor::make_jumps() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!lo.empty()) return;
  hi.resize(static_cast<size_t>(count()));
  lo.resize(static_cast<size_t>(count()));
}

Tensor make_values(DType dtype, const Extents& shape, Tracks tracks) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.tracks = tracks;
  const auto count = static_cast<size_t>(count_of(shape));
  if (tracks.integer) {
    tensor.i.resize(count);
  } else {
    tensor.t.resize(count);
  }
  if (tracks.a) tensor.a.resize(count);
  if (tracks.h) tensor.h.resize(count);
  return tensor;
}

uint64_t bytes_of(int64_t count, Tracks tracks) {
  return static_cast<uint64_t>(count) * (8u + (tracks.a ? 4u : 0u) + (tracks.h ? 4u : 0u));
}

bool is_integer(DType type) { return !tensor::is_float(type); }

int64_t wrapped(DType type, int64_t value) {
  switch (type) {
    case DType::Int32:
      return static_cast<int32_t>(value);
    case DType::Int16:
      return static_cast<int16_t>(value);
    case DType::Int8:
      return static_cast<int8_t>(value);
    case DType::Uint32:
      return static_cast<uint32_t>(value);
    case DType::Uint16:
      return static_cast<uint16_t>(value);
    case DType::Uint8:
      return static_cast<uint8_t>(value);
    case DType::Bool:
      return value != 0;
    default:
      return value;
  }
}

namespace {

template <class T, class To, class Convert>
void load_as(const HostTensor& from, const View& view, int64_t start, int count, To* to,
             Convert convert) {
  const std::byte* data = from.data.data();
  for_runs(view, start, count, [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
    const std::byte* run = data + address * static_cast<int64_t>(sizeof(T));
    if (stride == 0) {
      T raw;
      std::memcpy(&raw, run, sizeof(T));
      std::fill_n(to + at, length, static_cast<To>(convert(raw)));
      return;
    }
    for (int64_t k = 0; k < length; ++k) {
      T raw;
      std::memcpy(&raw, run + k * stride * static_cast<int64_t>(sizeof(T)), sizeof(T));
      to[at + k] = static_cast<To>(convert(raw));
    }
  });
}

template <class T>
int64_t as_integer(T raw) {
  return static_cast<int64_t>(raw);
}

/// Calls visit(T{}, convert) with the storage type and its conversion to double or int64.
template <class Visit>
void visit_storage(DType type, Visit visit) {
  switch (type) {
    case DType::Fp64:
      return visit(double{}, [](double v) { return v; });
    case DType::Fp32:
      return visit(float{}, [](float v) { return static_cast<double>(v); });
    case DType::Fp16:
      return visit(uint16_t{}, [](uint16_t v) -> double { return numeric::fp16_to_float(v); });
    case DType::Bf16:
      return visit(uint16_t{}, [](uint16_t v) -> double { return numeric::bf16_to_float(v); });
    case DType::Fp8e4m3:
      return visit(uint8_t{}, [](uint8_t v) -> double { return numeric::e4m3_to_float(v); });
    case DType::Fp8e5m2:
      return visit(uint8_t{}, [](uint8_t v) -> double { return numeric::e5m2_to_float(v); });
    case DType::E8m0:
      return visit(uint8_t{}, [](uint8_t v) -> double { return numeric::e8m0_to_float(v); });
    case DType::Int64:
    case DType::Uint64:
      return visit(int64_t{}, as_integer<int64_t>);
    case DType::Int32:
      return visit(int32_t{}, as_integer<int32_t>);
    case DType::Uint32:
      return visit(uint32_t{}, as_integer<uint32_t>);
    case DType::Int16:
      return visit(int16_t{}, as_integer<int16_t>);
    case DType::Uint16:
      return visit(uint16_t{}, as_integer<uint16_t>);
    case DType::Int8:
      return visit(int8_t{}, as_integer<int8_t>);
    case DType::Uint8:
      return visit(uint8_t{}, as_integer<uint8_t>);
    case DType::Bool:
      return visit(uint8_t{}, [](uint8_t v) { return as_integer(v != 0); });
    case DType::Fp4e2m1x2:
      KW_CHECK(false, "packed types are refused before a run");
  }
}

template <class Converted>
auto* place_of(VectorLanes& lanes) {
  if constexpr (std::is_same_v<Converted, int64_t>) {
    return lanes.i;
  } else {
    return lanes.t;
  }
}

// gather() copies the runs of a view into a dense chunk; spread() copies the other way.
template <class To, class From>
void gather(const From* from, const View& view, int64_t start, int count, To* to) {
  for_runs(view, start, count, [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
    if (stride == 1) {
      for (int64_t k = 0; k < length; ++k) to[at + k] = from[address + k];
    } else if (stride == 0) {
      std::fill_n(to + at, length, static_cast<To>(from[address]));
    } else {
      for (int64_t k = 0; k < length; ++k) to[at + k] = from[address + k * stride];
    }
  });
}

template <class T>
void spread(const T* from, const View& view, int64_t start, int count, T* to) {
  for_runs(view, start, count, [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
    if (stride == 1) {
      std::copy_n(from + at, length, to + address);
    } else {
      for (int64_t k = 0; k < length; ++k) to[address + k * stride] = from[at + k];
    }
  });
}

}  // namespace

void load(const HostTensor& from, const View& view, int64_t start, int count, VectorLanes& to) {
  to.jumps = false;
  visit_storage(from.dtype, [&](auto raw, auto convert) {
    load_as<decltype(raw)>(from, view, start, count, place_of<decltype(convert(raw))>(to), convert);
  });
}

void load(const Tensor& from, const View& view, int64_t start, int count, VectorLanes& to) {
  if (from.tracks.integer) {
    gather(from.i.data(), view, start, count, to.i);
  } else {
    gather(from.t.data(), view, start, count, to.t);
  }
  if (from.tracks.a) gather(from.a.data(), view, start, count, to.a);
  if (from.tracks.h) gather(from.h.data(), view, start, count, to.h);
  to.jumps = !from.lo.empty();
  if (!to.jumps) return;
  gather(from.lo.data(), view, start, count, to.lo);
  gather(from.hi.data(), view, start, count, to.hi);
}

void load_at(const HostTensor& from, const int64_t* addresses, int count, VectorLanes& to) {
  to.jumps = false;
  visit_storage(from.dtype, [&](auto raw, auto convert) {
    auto* out = place_of<decltype(convert(raw))>(to);
    for (int k = 0; k < count; ++k) {
      std::memcpy(&raw, from.data.data() + static_cast<size_t>(addresses[k]) * sizeof(raw),
                  sizeof(raw));
      out[k] = convert(raw);
    }
  });
}

void load_at(const Tensor& from, const int64_t* addresses, int count, VectorLanes& to) {
  const auto pick = [&](const auto& values, auto* out) {
    for (int k = 0; k < count; ++k) out[k] = values[static_cast<size_t>(addresses[k])];
  };
  if (from.tracks.integer) {
    pick(from.i, to.i);
  } else {
    pick(from.t, to.t);
  }
  if (from.tracks.a) pick(from.a, to.a);
  if (from.tracks.h) pick(from.h, to.h);
  to.jumps = !from.lo.empty();
  if (!to.jumps) return;
  pick(from.lo, to.lo);
  pick(from.hi, to.hi);
}

namespace {

void spread_bounds(const double* from, const View& view, int64_t start, int count, float* to) {
  const auto store_bounds = chunk_loops().store_bounds;
  for_runs(view, start, count, [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
    if (stride == 1) return store_bounds(from + at, static_cast<int>(length), to + address);
    for (int64_t k = 0; k < length; ++k) to[address + k * stride] = stored_bound(from[at + k]);
  });
}

}  // namespace

void store(const VectorLanes& from, Tracks tracks, int64_t start, int count, const View& view,
           Tensor& to) {
  if (tracks.integer) {
    spread(from.i, view, start, count, to.i.data());
  } else {
    spread(from.t, view, start, count, to.t.data());
  }
  if (tracks.a) spread_bounds(from.a, view, start, count, to.a.data());
  if (tracks.h) spread_bounds(from.h, view, start, count, to.h.data());
  if (!from.jumps) return;
  to.make_jumps();
  spread_bounds(from.lo, view, start, count, to.lo.data());
  spread_bounds(from.hi, view, start, count, to.hi.data());
}

}  // namespace kw::truth
