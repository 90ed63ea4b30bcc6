// The problem: scans and sorts need a whole line at once, along any dim. The program is permuted so
// that each line is one run; a worker reads it, computes it and writes it back. Several short lines
// form one unit of work, and every worker reuses its buffers. The alternative, parallel scans
// within a line, would change rounding with the number of threads. The cost: one very long line
// runs on a single core.
#include "truth/rows.h"

#include <algorithm>
#include <cmath>

#include "ops/op_groups.h"
#include "os/parallel.h"
#include "truth/scalar.h"

namespace kw::truth {

void Row::resize(size_t length) {
  (tracks.integer ? static_cast<void>(i.resize(length)) : static_cast<void>(t.resize(length)));
  if (tracks.a) a.resize(length);
  if (tracks.h) h.resize(length);
  lo.resize(length);
  hi.resize(length);
}

double Row::value(size_t k) const { return tracks.integer ? to_double(i[k], dtype) : t[k]; }

double Row::reach(size_t k) const {
  double reach = jumps ? std::max(lo[k], hi[k]) : 0;
  if (tracks.a) reach += kPathFactor * a[k];
  if (tracks.h) reach += h[k];
  return reach;
}

void Row::set_jump(size_t k, double low, double high) {
  lo[k] = low;
  hi[k] = high;
  jumps |= low > 0 || high > 0;
}

namespace {

void read_row(TruthRunner& evaluator, int64_t first, Row& row) {
  row.jumps = false;
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t at = 0; at < length; at += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, length - at));
    const VectorLanes& lanes = evaluator.at(first + at, count);
    if (row.tracks.integer) {
      std::copy_n(lanes.i, count, row.i.begin() + at);
    } else {
      std::copy_n(lanes.t, count, row.t.begin() + at);
    }
    if (row.tracks.a) std::copy_n(lanes.a, count, row.a.begin() + at);
    if (row.tracks.h) std::copy_n(lanes.h, count, row.h.begin() + at);
    if (lanes.jumps) {
      if (!row.jumps) {
        std::fill(row.lo.begin(), row.lo.end(), 0.0);
        std::fill(row.hi.begin(), row.hi.end(), 0.0);
      }
      row.jumps = true;
      std::copy_n(lanes.lo, count, row.lo.begin() + at);
      std::copy_n(lanes.hi, count, row.hi.begin() + at);
    } else if (row.jumps) {
      std::fill_n(row.lo.begin() + at, count, 0.0);
      std::fill_n(row.hi.begin() + at, count, 0.0);
    }
  }
}

void write_row(const Row& row, int64_t first, const View& place, VectorLanes& lanes, Tensor& out) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t at = 0; at < length; at += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, length - at));
    if (row.tracks.integer) {
      std::copy_n(row.i.begin() + at, count, lanes.i);
    } else {
      std::copy_n(row.t.begin() + at, count, lanes.t);
    }
    if (row.tracks.a) std::copy_n(row.a.begin() + at, count, lanes.a);
    if (row.tracks.h) std::copy_n(row.h.begin() + at, count, lanes.h);
    lanes.jumps = row.jumps;
    if (row.jumps) {
      std::copy_n(row.lo.begin() + at, count, lanes.lo);
      std::copy_n(row.hi.begin() + at, count, lanes.hi);
    }
    store(lanes, row.tracks, first + at, count, place, out);
  }
}

// The buffers that one worker reuses between rows.
struct RowBuffers {
  RowBuffers(const TruthProgram& program, size_t in_length, size_t out_length, const Tensor& out)
      : evaluator(program), lanes(new VectorLanes) {
    in.tracks = program.tracks;
    in.dtype = program.dtype;
    in.resize(in_length);
    result.tracks = out.tracks;
    result.dtype = out.dtype;
    result.resize(out_length);
  }
  TruthRunner evaluator;
  std::unique_ptr<VectorLanes> lanes;
  Row in, result;
};

}  // namespace

void walk_rows(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  const Extents& shape = s.facts[static_cast<size_t>(n.inputs[0])].shape;
  const int dim = n.attrs.dims[0];
  std::vector<int> order;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (d != dim) order.push_back(d);
  }
  order.push_back(dim);
  const auto in_length = shape[static_cast<size_t>(dim)];
  const auto out_length = out.shape[static_cast<size_t>(dim)];
  if (out.count() == 0) return;
  const int64_t rows = out.count() / out_length;
  const TruthProgram program = make_program(s, n.inputs[0], order, false);
  const View place = coalesced(permuted(dense_view(out.shape), order));
  const Rounding rounding = without_limits(rounding_of(n.dtype, s.flush));
  std::vector<RowBuffers> buffers;
  for (int w = 0; w < workers.threads; ++w)
    buffers.emplace_back(program, static_cast<size_t>(in_length), static_cast<size_t>(out_length),
                       out);
  const int64_t batch = std::max<int64_t>(1, 4 * kChunk / std::max<int64_t>(in_length, 1));
  os::parallel_for(workers.threads, (rows + batch - 1) / batch, [&](int worker, int64_t unit) {
    RowBuffers& own = buffers[static_cast<size_t>(worker)];
    const int64_t end = std::min(rows, (unit + 1) * batch);
    uint8_t beyond = 0;
    const RowTask task{n, rounding, s.mode, s.range_of(node), &beyond};
    for (int64_t row = unit * batch; row < end; ++row) {
      read_row(own.evaluator, row * in_length, own.in);
      own.result.jumps = false;
      (ops::scans_values(n.op) ? scan_row : rank_row)(task, own.in, own.result);
      write_row(own.result, row * out_length, place, *own.lanes, out);
    }
    s.findings.mark(node, beyond);
  });
  const auto unbounded = [&](const tensor::Large<float>& bounds) {
    const auto count = static_cast<int64_t>(bounds.size());
    return os::in_any_block(workers.threads, count, [&](int64_t begin, int64_t end) {
      return std::any_of(bounds.begin() + begin, bounds.begin() + end,
                         [](float v) { return std::isinf(v); });
    });
  };
  if (unbounded(out.a) || unbounded(out.h)) s.findings.unbounded = true;
}

}  // namespace kw::truth
