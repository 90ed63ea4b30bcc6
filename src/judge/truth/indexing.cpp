// The problem: Gather and IndexSelect read elements at computed positions, and the index itself may
// be uncertain. If an index may jump, every element that it may select widens the result. Chunks of
// the result are independent, so threads share them; the first bad index is reported at the end.
// The alternative, stopping at an uncertain index, would leave the result without a bound. The
// cost: one uncertain index reads all elements between its ends.
#include <algorithm>
#include <mutex>
#include <optional>

#include "os/parallel.h"
#include "truth/graph_pass.h"
#include "truth/jump_rules.h"
#include "truth/moves.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

// Records the first index that is out of range.
class Range {
 public:
  Range(int64_t extent, int dim) : extent_(extent), dim_(dim) {}

  /// Returns the index, or records it and returns 0 if it is out of range.
  int64_t checked(int64_t index) {
    if (index >= 0 && index < extent_) return index;
    const std::lock_guard lock(mutex_);
    if (!bad_) bad_ = index;
    return 0;
  }
  int64_t clamped(double index) const {
    return static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(extent_ - 1)));
  }
  Status status() const {
    if (!bad_) return Done{};
    return input_error("index {} is out of bounds for dimension {} with size {}", *bad_, dim_,
                       extent_);
  }
  bool empty() const { return extent_ == 0; }

 private:
  int64_t extent_;
  int dim_;
  std::mutex mutex_;
  std::optional<int64_t> bad_;
};

// Reads single elements of an input or of a whole node.
class Picker {
 public:
  Picker(const Sources& s, NodeId node) {
    if (s.graph[node].op == Op::Input) {
      input_ = &s.inputs[static_cast<size_t>(s.graph[node].attrs.integer)];
    } else {
      value_ = &s.values[static_cast<size_t>(node)];
    }
  }

  void pick(const int64_t* addresses, int count, VectorLanes& out) const {
    if (input_ != nullptr) return load_at(*input_, addresses, count, out);
    load_at(*value_, addresses, count, out);
  }

 private:
  const tensor::HostTensor* input_ = nullptr;
  const Tensor* value_ = nullptr;
};

// The buffers with which one worker reads through an index.
struct Reader {
  VectorLanes picked, other;
  int64_t base[kChunk], address[kChunk];
};

struct Indexed {
  const Picker& picker;
  Range& range;
  int64_t stride;  // stride of the indexed dim
  Tracks tracks;
  tensor::DType dtype;
};

// Widens element k, because element j of `other` may be selected instead.
void widen(const VectorLanes& other, int j, const Indexed& from, int k, VectorLanes& out) {
  const double y = from.tracks.integer ? to_double(out.i[k], from.dtype) : out.t[k];
  const double z = from.tracks.integer ? to_double(other.i[j], from.dtype) : other.t[j];
  Jump jump = {out.lo[k], out.hi[k]};
  widen(jump, z, y);
  out.lo[k] = jump.lo;
  out.hi[k] = jump.hi;
  if (from.tracks.a) out.a[k] = std::max(out.a[k], other.a[j]);
  if (from.tracks.h) out.h[k] = std::max(out.h[k], other.h[j]);
}

/// Widens element k by every element that the index may select instead, chunk by chunk.
void widen_over(const Indexed& from, const VectorLanes& index, int k, Reader& reader) {
  const double at = static_cast<double>(index.i[k]);
  const int64_t first = from.range.clamped(at - index.lo[k]);
  const int64_t last = from.range.clamped(at + index.hi[k]);
  for (int64_t i = first; i <= last; i += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, last - i + 1));
    for (int j = 0; j < count; ++j) reader.address[j] = reader.base[k] + (i + j) * from.stride;
    from.picker.pick(reader.address, count, reader.other);
    for (int j = 0; j < count; ++j) widen(reader.other, j, from, k, reader.picked);
  }
}

/// Sets reader.picked to the elements at base + index * stride.
void read_indexed(const Indexed& from, const VectorLanes& index, int count, Reader& reader) {
  for (int k = 0; k < count; ++k)
    reader.address[k] = reader.base[k] + from.range.checked(index.i[k]) * from.stride;
  from.picker.pick(reader.address, count, reader.picked);
  if (!index.jumps) return;
  if (!reader.picked.jumps) {
    std::fill_n(reader.picked.lo, count, 0.0);
    std::fill_n(reader.picked.hi, count, 0.0);
    reader.picked.jumps = true;
  }
  for (int k = 0; k < count; ++k) {
    if (index.lo[k] > 0 || index.hi[k] > 0) widen_over(from, index, k, reader);
  }
}

/// Returns the addresses of the result's positions, without the indexed dim.
View base_view(const Extents& from, size_t dim, const Extents& shape) {
  View view = dense_view(from);
  view.shape = shape;
  view.strides[dim] = 0;
  return coalesced(view);
}

void addresses(const View& view, int64_t start, int count, int64_t* out) {
  for_runs(view, start, count, [&](int64_t at, int64_t address, int64_t stride, int64_t length) {
    for (int64_t k = 0; k < length; ++k) out[at + k] = address + k * stride;
  });
}

}  // namespace

Status gather(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  const auto dim = static_cast<size_t>(n.attrs.dims[0]);
  const Extents& shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
  Range range(shape[dim], n.attrs.dims[0]);
  if (range.empty() && out.count() > 0) return input_error("an empty dimension cannot be indexed");
  const Picker picker(s, n.inputs[0]);
  const Indexed from{picker, range, dense_view(shape).strides[dim], out.tracks, n.dtype};
  const View base = base_view(shape, dim, out.shape), place = coalesced(dense_view(out.shape));
  const TruthProgram index = make_program(s, n.inputs[1], {}, false);
  std::vector<TruthRunner> evaluators;
  for (int w = 0; w < workers.threads; ++w) evaluators.emplace_back(index);
  const auto readers = std::make_unique<Reader[]>(static_cast<size_t>(workers.threads));
  os::parallel_for(
      workers.threads, (out.count() + kChunk - 1) / kChunk, [&](int worker, int64_t unit) {
        const int64_t at = unit * kChunk;
        const int count = static_cast<int>(std::min<int64_t>(kChunk, out.count() - at));
        Reader& reader = readers[static_cast<size_t>(worker)];
        addresses(base, at, count, reader.base);
        read_indexed(from, evaluators[static_cast<size_t>(worker)].at(at, count), count, reader);
        store(reader.picked, from.tracks, at, count, place, out);
      });
  return range.status();
}

Status index_select(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  const auto dim = static_cast<size_t>(n.attrs.dims[0]);
  const Extents& shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
  Range range(shape[dim], n.attrs.dims[0]);
  if (range.empty() && out.count() > 0) return input_error("an empty dimension cannot be indexed");
  const Picker picker(s, n.inputs[0]);
  const Indexed from{picker, range, dense_view(shape).strides[dim], out.tracks, n.dtype};
  const View base = base_view(shape, dim, out.shape), place = coalesced(dense_view(out.shape));
  // The index for every position of the result.
  const TruthProgram program = make_program(s, n.inputs[1], {}, false);
  Tensor index = make_values(tensor::DType::Int64, {program.count}, program.tracks);
  copy_program(program, coalesced(dense_view(index.shape)), 1, index);
  View spread{out.shape, Extents(out.shape.size(), 0), 0};
  spread.strides[dim] = 1;
  spread = coalesced(spread);
  const auto readers = std::make_unique<Reader[]>(static_cast<size_t>(workers.threads));
  const auto indices = std::make_unique<VectorLanes[]>(static_cast<size_t>(workers.threads));
  os::parallel_for(
      workers.threads, (out.count() + kChunk - 1) / kChunk, [&](int worker, int64_t unit) {
        const int64_t at = unit * kChunk;
        const int count = static_cast<int>(std::min<int64_t>(kChunk, out.count() - at));
        Reader& reader = readers[static_cast<size_t>(worker)];
        VectorLanes& lanes = indices[static_cast<size_t>(worker)];
        load(index, spread, at, count, lanes);
        addresses(base, at, count, reader.base);
        read_indexed(from, lanes, count, reader);
        store(reader.picked, from.tracks, at, count, place, out);
      });
  return range.status();
}

}  // namespace kw::truth
