// The problem: a matrix product is fast only if both factors lie in memory as its inner loop reads
// them. Values are packed in fp64. Terms of the bounds are packed in fp32, because they need no
// more precision. Each line of a bound is divided by a power of two, so that its products stay in
// the range of fp32. The alternative, fp64 for all planes, would double the memory and halve the
// speed of the bounds. The cost is one pass per plane; an infinite error cannot be packed, so its
// line is marked unbounded.
#include "truth/factors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "os/parallel.h"
#include "truth/levels.h"

namespace kw::truth {

namespace {

void read_chunk(const VectorLanes& lanes, int64_t at, int count, Matrix& m) {
  if (m.tracks.integer) {
    std::copy_n(lanes.i, count, m.i.begin() + at);
  } else {
    std::copy_n(lanes.t, count, m.t.begin() + at);
  }
  const auto store_bounds = chunk_loops().store_bounds;
  if (m.tracks.a) store_bounds(lanes.a, count, m.a.data() + at);
  if (m.tracks.h) store_bounds(lanes.h, count, m.h.data() + at);
  for (int k = 0; lanes.jumps && k < count; ++k)
    m.j[static_cast<size_t>(at + k)] = stored_bound(std::max(lanes.lo[k], lanes.hi[k]));
}

// The least number of elements for which threads are worth their cost.
constexpr int64_t kWorthSharing = 1 << 16;

// The strides of elements in the matrix, and the size of the panels.
struct Packing {
  int64_t lines, depth, width;
  int64_t line_stride, depth_stride;
  int threads;
  int64_t panels() const { return (lines + width - 1) / width; }
  size_t size() const { return static_cast<size_t>(panels() * depth * width); }
};

Packing packing_of(const FactorShape& s, int64_t columns) {
  const int threads = s.lines * s.depth < kWorthSharing ? 1 : s.threads;
  if (s.side == Side::Left) return {s.lines, s.depth, kGemmRows, s.depth, 1, threads};
  return {s.lines, s.depth, columns, 1, s.lines, threads};
}

// Panels that are filled together: if lines are neighbours in memory, this reads the matrix in
// longer runs.
constexpr int64_t kTogether = 8;

/// `value` takes a line and an element. Lines beyond the last stay zero.
template <class T, class Value>
void pack(const Packing& p, Value value, Plane<T>& plane) {
  plane.data.resize(p.size());
  const int64_t groups = (p.panels() + kTogether - 1) / kTogether;
  os::parallel_for(p.threads, groups, [&](int, int64_t group) {
    const int64_t first = group * kTogether, last = std::min(p.panels(), first + kTogether);
    for (int64_t k = 0; k < p.depth; ++k) {
      for (int64_t panel = first; panel < last; ++panel) {
        T* to = plane.data.data() + (panel * p.depth + k) * p.width;
        const int64_t line = panel * p.width, width = std::min(p.width, p.lines - line);
        for (int64_t l = 0; l < width; ++l) {
          const int64_t at = (line + l) * p.line_stride + k * p.depth_stride;
          to[l] = static_cast<T>(value(static_cast<size_t>(line + l), static_cast<size_t>(at)));
        }
      }
    }
  });
}

/// Calls body(line, element) for all elements, in memory order.
template <class Body>
void each_element(const Packing& p, Body body) {
  constexpr int64_t kLines = 256;
  os::parallel_for(p.threads, (p.lines + kLines - 1) / kLines, [&](int, int64_t block) {
    const int64_t first = block * kLines, last = std::min(p.lines, first + kLines);
    if (p.depth_stride == 1) {
      for (int64_t line = first; line < last; ++line)
        for (int64_t k = 0; k < p.depth; ++k)
          body(static_cast<size_t>(line), static_cast<size_t>(line * p.line_stride + k));
      return;
    }
    for (int64_t k = 0; k < p.depth; ++k)
      for (int64_t line = first; line < last; ++line)
        body(static_cast<size_t>(line), static_cast<size_t>(line + k * p.depth_stride));
  });
}

/// Returns the smallest power of two above `most`, limited so that its inverse is finite.
double scale_for(double most) {
  if (!(most > 0)) return 1;
  int exponent = 0;
  std::frexp(most, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
}

/// Packs non-negative values, each line scaled to at most 1; infinities count as 0.
template <class Value>
void pack_bound(const Packing& p, Value value, Plane<float>& plane) {
  plane.scale.assign(static_cast<size_t>(p.panels() * p.width), 0);
  double* scale = plane.scale.data();
  each_element(p, [&](size_t line, size_t at) {
    const double v = value(at);
    scale[line] = v > scale[line] && v < kInfinity ? v : scale[line];
  });
  std::vector<double> inverse(plane.scale.size());
  for (size_t line = 0; line < inverse.size(); ++line) {
    scale[line] = scale_for(scale[line]);
    inverse[line] = 1 / scale[line];
  }
  pack(
      p,
      [&](size_t line, size_t at) {
        const double v = value(at);
        return (v < kInfinity ? v : 0) * inverse[line];
      },
      plane);
}

bool is_unbounded(const Matrix& m, size_t k) {
  return (m.tracks.a && std::isinf(m.a[k])) || (m.tracks.h && std::isinf(m.h[k])) ||
         (m.jumps && std::isinf(m.j[k]));
}

void mark_unbounded(const Matrix& m, const Packing& p, PackedFactor& to) {
  to.unbounded.assign(static_cast<size_t>(p.lines), false);
  if (!m.tracks.a && !m.tracks.h && !m.jumps) return;
  const auto count = static_cast<int64_t>(m.t.size());
  const bool any = os::in_any_block(p.threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (is_unbounded(m, static_cast<size_t>(k))) return true;
    }
    return false;
  });
  if (!any) return;
  Packing alone = p;  // vector<bool> is not thread-safe
  alone.threads = 1;
  each_element(alone, [&](size_t line, size_t at) {
    if (is_unbounded(m, at)) to.unbounded[line] = true;
  });
}

// A certain zero, such as padding, adds no value and no rounding error.
void count_terms(const Matrix& m, const Packing& p, PackedFactor& to) {
  to.terms.assign(static_cast<size_t>(p.panels() * p.width), 0);
  double* terms = to.terms.data();
  const float* a = m.tracks.a ? m.a.data() : nullptr;
  const float* h = m.tracks.h ? m.h.data() : nullptr;
  const float* j = m.jumps ? m.j.data() : nullptr;
  each_element(p, [&](size_t line, size_t at) {
    const bool certain = m.t[at] == 0 && (a == nullptr || a[at] == 0) &&
                         (h == nullptr || h[at] == 0) && (j == nullptr || j[at] == 0);
    terms[line] += certain ? 0 : 1;
  });
  to.roots.resize(to.terms.size());
  std::transform(to.terms.begin(), to.terms.end(), to.roots.begin(),
                 [](double n) { return std::sqrt(n); });
}

}  // namespace

void read_matrix(const TruthProgram& program, std::span<TruthRunner> evaluators, Region region,
                 Matrix& m) {
  constexpr int64_t kUnit = 32 * kChunk;
  const int64_t count = region.rows * region.columns;
  if (region.columns == region.stride || region.rows == 1) {  // one run: split it evenly
    region.rows = (count + kUnit - 1) / kUnit;
    region.columns = region.stride = kUnit;
  }
  m.tracks = program.tracks;
  const auto size = static_cast<size_t>(count);
  if (m.tracks.integer) {
    m.i.resize(size);
  } else {
    m.t.resize(size);
  }
  if (m.tracks.a) m.a.resize(size);
  if (m.tracks.h) m.h.resize(size);
  m.j.clear();
  std::mutex mutex;
  std::atomic<bool> jumps = false;
  const int workers = count < kWorthSharing ? 1 : static_cast<int>(evaluators.size());
  const int64_t together = std::max<int64_t>(1, kUnit / std::max<int64_t>(1, region.columns));
  os::parallel_for(workers, (region.rows + together - 1) / together, [&](int worker, int64_t unit) {
    const int64_t last = std::min(region.rows, (unit + 1) * together);
    for (int64_t row = unit * together; row < last; ++row) {
      const int64_t to = row * region.columns, end = std::min(count, to + region.columns);
      for (int64_t at = to; at < end; at += kChunk) {
        const int n = static_cast<int>(std::min<int64_t>(kChunk, end - at));
        const int64_t from = region.first + row * region.stride + at - to;
        const VectorLanes& lanes = evaluators[static_cast<size_t>(worker)].at(from, n);
        if (lanes.jumps && !jumps) {
          const std::lock_guard lock(mutex);
          if (m.j.empty()) m.j.resize(size);
          jumps = true;
        }
        read_chunk(lanes, at, n, m);
      }
    }
  });
  m.jumps = jumps;
}

void pack_factor(const Matrix& m, const FactorShape& shape, const FactorNeeds& needs,
                 PackedFactor& to) {
  const Packing wide = packing_of(shape, kGemmColumns<double>);
  const Packing p = packing_of(shape, kGemmColumns<float>);
  const bool right = shape.side == Side::Right;
  if (needs.narrow)
    return pack(
        p, [&](size_t, size_t k) { return m.t[k]; }, to.narrow);
  pack(
      wide, [&](size_t, size_t k) { return m.t[k]; }, to.value);
  if (!needs.bounds) return;
  const auto magnitude = [&](size_t k) { return std::fabs(m.t[k]); };
  const auto with_half = [&](size_t k) {
    return std::fabs(m.t[k]) + (right && m.tracks.h ? m.h[k] : 0.0f);
  };
  pack_bound(p, magnitude, to.magnitude);
  // If a factor is small compared with its error, the product of both errors counts.
  if (needs.wide)
    pack_bound(
        p, [&](size_t k) { return magnitude(k) + 4 * m.a[k]; }, to.wide);
  if (needs.error)
    pack_bound(
        p, [&](size_t k) { return m.a[k]; }, to.error);
  if (needs.square)
    pack_bound(
        p, [&](size_t k) { return with_half(k) * with_half(k); }, to.square);
  if (needs.half_square)
    pack_bound(
        p, [&](size_t k) { return static_cast<double>(m.h[k]) * m.h[k]; }, to.half_square);
  if (needs.cross)
    pack_bound(
        p, [&](size_t k) { return (right ? 1 : 2) * with_half(k) * m.h[k]; }, to.cross);
  to.jump.data.clear();
  to.reach.data.clear();
  if (m.jumps) {
    pack_bound(
        p, [&](size_t k) { return m.j[k]; }, to.jump);
    pack_bound(
        p, [&](size_t k) { return magnitude(k) + m.j[k]; }, to.reach);
  }
  mark_unbounded(m, p, to);
  count_terms(m, p, to);
}

}  // namespace kw::truth
