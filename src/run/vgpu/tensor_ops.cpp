// Matrix instructions of one warp. A fragment is spread over the registers of 32 lanes; it is
// collected into a row-major matrix, computed in double and distributed again. That is simple and
// exact, but slower than working in the registers. Products are exact in double and a sum is
// rounded once, because the ISA does not define the order and width of accumulation. A matrix load
// or store is split into pieces of at most 16 bytes, each checked as an access of one lane. Which
// lane really does it is not defined, so the lane in a finding is only an example.
#include "vgpu/tensor_ops.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "vgpu/access.h"
#include "vgpu/address.h"
#include "vgpu/levels.h"
#include "vgpu/machine.h"
#include "vgpu/matrix_values.h"
#include "vgpu/ordering.h"
#include "vgpu/races.h"
#include "vgpu/report.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

using ptx::Type;

constexpr int kMaxLines = 32, kMaxElements = kMaxLines * 16;

/// Bytes of an element, known when a loop over elements is compiled.
template <int kSize>
using Size = std::integral_constant<int, kSize>;

// Calls visit(size, element, offset) for every element of a row-major mma.sync matrix. Eight rows of
// a left operand or of sums, or eight columns of a right one, form a part. In it, four neighbouring
// lanes hold each row or column.
template <int kSize, typename Visit>
void each_held(const Fragment& f, const Visit& visit) {
  constexpr int kHeld = kSize == 8 ? 1 : 4 / kSize;  // neighbouring elements in one register
  constexpr int kWidth = kSize * kHeld;
  const bool right = f.spread == Spread::Right, sums = f.spread == Spread::Sums;
  const int lines = right ? f.columns : f.rows, length = right ? f.rows : f.columns;
  const int step = right ? 1 : (f.rows + 7) / 8;  // registers from one part of a line to the next
  for (int line = 0; line < lines; ++line) {
    for (int along = 0; along < length; ++along) {
      const int first = line / 8, lane = line % 8 * 4;
      const int slot =
          sums ? first * (2 / kHeld) + along % 2 / kHeld : first + along / (4 * kHeld) * step;
      const int own = lane + (sums ? along / 2 : along % (4 * kHeld) / kHeld);
      const int inside = sums ? along % 2 % kHeld : along % kHeld;
      visit(Size<kSize>(), right ? along * f.columns + line : line * f.columns + along,
            f.slots[slot] + static_cast<uint32_t>(own * kWidth + inside * kSize));
    }
  }
}

// The same for a wmma matrix, whose elements lie in lane order, repeated where there are more places
// than elements. Visits `most` places.
template <int kSize, typename Visit>
void each_in_order(const Fragment& f, int most, const Visit& visit) {
  constexpr int kWidth = kSize == 8 ? 8 : 4;
  const int count = f.rows * f.columns;
  int place = 0, element = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < f.registers; ++r) {
      for (int at = 0; at < kWidth; at += kSize) {
        if (place++ == most) return;
        visit(Size<kSize>(), element, f.slots[r] + static_cast<uint32_t>(lane * kWidth + at));
        if (++element == count) element = 0;
      }
    }
  }
}

template <int kSize, typename Visit>
void each_of_size(const Fragment& f, int most, const Visit& visit) {
  if (f.spread != Spread::Open) return each_held<kSize>(f, visit);
  each_in_order<kSize>(f, most, visit);
}

template <typename Visit>
void each_element(const Fragment& f, int most, const Visit& visit) {
  switch (ptx::type_size(f.type)) {
    case 1:
      return each_of_size<1>(f, most, visit);
    case 2:
      return each_of_size<2>(f, most, visit);
    case 4:
      return each_of_size<4>(f, most, visit);
    default:
      return each_of_size<8>(f, most, visit);
  }
}

void put_matrix(std::byte* file, const Fragment& f, const std::byte* elements) {
  constexpr int kMostPlaces = kLanes * 8 * 8;  // more than any fragment has places
  each_element(f, kMostPlaces, [&](auto size, int e, uint32_t at) {
    std::memcpy(file + at, elements + e * size, static_cast<size_t>(size));
  });
}

void get_matrix(const std::byte* file, const Fragment& f, std::byte* elements) {
  each_element(f, f.rows * f.columns, [&](auto size, int e, uint32_t at) {
    std::memcpy(elements + e * size, file + at, static_cast<size_t>(size));
  });
}

struct Matrix {
  std::byte raw[kMaxElements * 8];
  double value[kMaxElements];
  bool undefined[kMaxElements];
};

void read_fragment(const Warp& w, const Fragment& f, Matrix& out) {
  const int size = ptx::type_size(f.type), count = f.rows * f.columns;
  get_matrix(w.regs, f, out.raw);
  element_values(f.type, out.raw, count, out.value);
  if (!w.tainted) return;
  get_matrix(w.shadow, f, out.raw);
  for (int e = 0; e < count; ++e) {
    out.undefined[e] = false;
    for (int i = 0; i < size; ++i)
      out.undefined[e] = out.undefined[e] || out.raw[e * size + i] != std::byte{0};
  }
}

// A sum is undefined if its start, or anything in its row of `a` or its column of `b`, is.
void multiply_undefined(Warp& w, const TensorInst& t, const Matrix& a, const Matrix& b, Matrix& c) {
  const int m = t.d.rows, n = t.d.columns, k = t.a.columns, size = ptx::type_size(t.d.type);
  bool row[kMaxLines] = {}, column[kMaxLines] = {};
  for (int i = 0; i < m; ++i) {
    for (int x = 0; x < k; ++x) row[i] |= a.undefined[i * k + x];
  }
  for (int x = 0; x < k; ++x) {
    for (int j = 0; j < n; ++j) column[j] |= b.undefined[x * n + j];
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j)
      std::memset(c.raw + (i * n + j) * size,
                  c.undefined[i * n + j] || row[i] || column[j] ? 0xff : 0,
                  static_cast<size_t>(size));
  }
  put_matrix(w.shadow, t.d, c.raw);
}

// Products are exact in double; their sum is rounded once to the result's type. The order and width
// of accumulation on hardware are not specified. f64 uses a chain of fused multiply-adds.
void multiply(Warp& w, const TensorInst& t) {
  Matrix a, b, c;
  read_fragment(w, t.a, a);
  read_fragment(w, t.b, b);
  read_fragment(w, t.c, c);
  const int m = t.d.rows, n = t.d.columns, k = t.a.columns, size = ptx::type_size(t.d.type);
  const bool fused = t.d.type == Type::F64;
  if (fused || !add_products(a.value, b.value, c.value, {m, n, k})) {
    for (int i = 0; i < m; ++i) {
      for (int x = 0; x < k; ++x) {
        const double left = a.value[i * k + x];
        for (int j = 0; j < n; ++j) {
          double& sum = c.value[i * n + j];
          sum = fused ? std::fma(left, b.value[x * n + j], sum) : sum + left * b.value[x * n + j];
        }
      }
    }
  }
  for (int e = 0; e < m * n; ++e)
    store_value(t.d.type, c.value[e], t.saturate, c.raw + e * size);
  put_matrix(w.regs, t.d, c.raw);
  if (w.tainted) multiply_undefined(w, t, a, b, c);
}

/// The matrix in memory: `lines` lines of `length` elements. Each line starts `pitch` bytes after
/// the one before.
struct Lines {
  int lines, length, size;
  uint64_t address, pitch;
};

Lines lines_of(const Warp& w, const TensorInst& t) {
  Lines l{};
  l.lines = t.column_major ? t.d.columns : t.d.rows;
  l.length = t.column_major ? t.d.rows : t.d.columns;
  l.size = ptx::type_size(t.d.type);
  const int lane = __builtin_ctz(w.live);
  uint32_t stride = static_cast<uint32_t>(l.length);
  if (t.stride != 0) std::memcpy(&stride, w.regs + t.stride + lane * 4, 4);
  l.address = lane_address(w, t.mem, lane);
  l.pitch = uint64_t{stride} * static_cast<uint64_t>(l.size);
  return l;
}

// Calls visit(lane, address, first element) for every piece of at most 16 bytes. Line i counts as
// lane i's access. The real lane is not specified, so only the warp matters to the checks.
template <typename Visit>
void each_piece(const Lines& l, uint32_t piece, const Visit& visit) {
  for (int line = 0; line < l.lines; ++line) {
    for (uint32_t at = 0; at < static_cast<uint32_t>(l.length * l.size); at += piece)
      visit(line % kLanes, l.address + static_cast<uint64_t>(line) * l.pitch + at,
            line * l.length + static_cast<int>(at) / l.size);
  }
}

// The row-major index of the e-th element in memory order.
int logical(const TensorInst& t, const Lines& l, int e) {
  return t.column_major ? (e % l.length) * t.d.columns + e / l.length : e;
}

// CUDA asks for matrices that begin at multiples of 32 bytes. Devices accept 16, so this is a
// warning; less is found piece by piece. Where a buffer itself begins is not the kernel's doing.
void check_start(Machine& m, const Warp& w, uint32_t pc, const Lines& l) {
  constexpr uint64_t kStart = 32;
  const uint32_t region = m.map.region_of(l.address);
  const uint64_t base = region < m.region_count ? m.regions[region].base : 0;
  if (m.counters != nullptr || (l.address - base) % kStart == 0) return;
  report(m, record::FindingKind::Misaligned, record::Certainty::Warning, actor(m, w, 0, pc), {},
         std::nullopt, [&] {
           return fmt::format(
               "a wmma matrix begins {} bytes past a multiple of {}, which CUDA does not allow",
               (l.address - base) % kStart, kStart);
         });
}

void load_matrix(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  std::byte values[kMaxElements * 8], bits[kMaxElements * 8];
  const Lines l = lines_of(w, t);
  check_start(m, w, pc, l);
  const uint32_t piece = t.mem.total;
  each_piece(l, piece, [&](int lane, uint64_t address, int first) {
    std::byte data[16] = {}, unknown[16] = {};
    const Target target = resolve(m, w, lane, pc, t.mem.space, address, piece, false);
    if (target.kind != Target::Kind::None) {
      const LaneAccess access{&w, lane, pc, AccessKind::Read, false, nullptr, nullptr, piece};
      if (read_piece(m, access, target, data, unknown)) {
        begin_taint(m, w, pc, target.region, target.offset);
      }
    }
    for (uint32_t i = 0; i < piece; i += static_cast<uint32_t>(l.size)) {
      const int e = logical(t, l, first + static_cast<int>(i) / l.size);
      std::memcpy(values + e * l.size, data + i, static_cast<size_t>(l.size));
      std::memcpy(bits + e * l.size, unknown + i, static_cast<size_t>(l.size));
    }
  });
  put_matrix(w.regs, t.d, values);
  if (w.tainted) put_matrix(w.shadow, t.d, bits);
}

void store_matrix(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  std::byte values[kMaxElements * 8], bits[kMaxElements * 8];
  const Lines l = lines_of(w, t);
  check_start(m, w, pc, l);
  const uint32_t piece = t.mem.total;
  get_matrix(w.regs, t.d, values);
  if (w.tainted) get_matrix(w.shadow, t.d, bits);
  each_piece(l, piece, [&](int lane, uint64_t address, int first) {
    std::byte data[16] = {}, unknown[16] = {};
    for (uint32_t i = 0; i < piece; i += static_cast<uint32_t>(l.size)) {
      const int e = logical(t, l, first + static_cast<int>(i) / l.size);
      std::memcpy(data + i, values + e * l.size, static_cast<size_t>(l.size));
      if (w.tainted) std::memcpy(unknown + i, bits + e * l.size, static_cast<size_t>(l.size));
    }
    const Target target = resolve(m, w, lane, pc, t.mem.space, address, piece, true);
    if (target.kind == Target::Kind::None) return;
    const LaneAccess access{&w, lane, pc, AccessKind::Write, false, data, target.data, piece};
    write_piece(m, access, target, unknown);
  });
  ++m.progress;
  ++m.outside;
}

constexpr int kRowBytes = 16;  // a row of an 8 x 8 matrix of halves

// Lane 8 i + r names row r of matrix i. Its elements go where mma.sync expects them, or where it
// expects those of the transposed matrix.
void load_rows(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  std::byte values[4][kLanes * 4] = {}, bits[4][kLanes * 4] = {};
  for (int lane = 0; lane < 8 * t.by_rows; ++lane) {
    std::byte data[kRowBytes] = {}, unknown[kRowBytes] = {};
    const Target target =
        resolve(m, w, lane, pc, t.mem.space, lane_address(w, t.mem, lane), kRowBytes, false);
    if (target.kind != Target::Kind::None) {
      const LaneAccess access{&w, lane, pc, AccessKind::Read, false, nullptr, nullptr, kRowBytes};
      if (read_piece(m, access, target, data, unknown)) {
        begin_taint(m, w, pc, target.region, target.offset);
      }
    }
    const int row = lane % 8;
    for (int column = 0; column < 8; ++column) {
      const int line = t.column_major ? column : row, along = t.column_major ? row : column;
      const int to = (line * 4 + along / 2) * 4 + along % 2 * 2;
      std::memcpy(values[lane / 8] + to, data + column * 2, 2);
      std::memcpy(bits[lane / 8] + to, unknown + column * 2, 2);
    }
  }
  for (int i = 0; i < t.by_rows; ++i) {
    std::memcpy(w.regs + t.d.slots[i], values[i], sizeof values[i]);
    if (w.tainted) std::memcpy(w.shadow + t.d.slots[i], bits[i], sizeof bits[i]);
  }
}

// The reverse: stores what mma.sync leaves in registers, or its transpose.
void store_rows(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  for (int lane = 0; lane < 8 * t.by_rows; ++lane) {
    std::byte data[kRowBytes] = {}, unknown[kRowBytes] = {};
    const int row = lane % 8;
    for (int column = 0; column < 8; ++column) {
      const int line = t.column_major ? column : row, along = t.column_major ? row : column;
      const uint32_t from =
          t.d.slots[lane / 8] + static_cast<uint32_t>((line * 4 + along / 2) * 4 + along % 2 * 2);
      std::memcpy(data + column * 2, w.regs + from, 2);
      if (w.tainted) std::memcpy(unknown + column * 2, w.shadow + from, 2);
    }
    const Target target =
        resolve(m, w, lane, pc, t.mem.space, lane_address(w, t.mem, lane), kRowBytes, true);
    if (target.kind == Target::Kind::None) continue;
    const LaneAccess access{&w, lane, pc, AccessKind::Write, false, data, target.data, kRowBytes};
    write_piece(m, access, target, unknown);
  }
  ++m.progress;
}

void count_rows(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = lane_address(w, t.mem, lane);
  count_addresses(m, pc, t.mem, addresses, t.by_rows == 4 ? ~0u : (1u << (8 * t.by_rows)) - 1);
}

void count_matrix(Machine& m, Warp& w, uint32_t pc, const TensorInst& t) {
  const Lines l = lines_of(w, t);
  uint64_t addresses[kLanes];
  uint32_t mask = 0;
  const auto flush = [&] {
    if (mask != 0) count_addresses(m, pc, t.mem, addresses, mask);
    mask = 0;
  };
  int next = 0;
  each_piece(l, t.mem.total, [&](int, uint64_t address, int) {
    addresses[next] = address;
    mask |= 1u << next;
    next = (next + 1) % kLanes;
    if (next == 0) flush();
  });
  flush();
}

}  // namespace

void run_tensor(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  const TensorInst& t = m.launch.code->tensors[in.target];
  watch_clock(m);
  if (mask != ~0u) {
    report_fatal(m, record::FindingKind::CollectiveDeadlock, actor(m, w, __builtin_ctz(mask), pc),
                 std::nullopt, [&] {
                   return fmt::format(
                       "a matrix instruction needs all 32 lanes of the warp, {} are here",
                       __builtin_popcount(mask));
                 });
    return;
  }
  if (in.op == Op::TensorMma) return multiply(w, t);
  if (t.by_rows > 0) {
    for (int lane = 0; w.tainted && lane < 8 * t.by_rows; ++lane) {
      if (undefined_address(m, w, pc, t.mem, lane)) return;
    }
    if (m.counters != nullptr) count_rows(m, w, pc, t);
    if (in.op == Op::TensorLoad)
      load_rows(m, w, pc, t);
    else
      store_rows(m, w, pc, t);
    return;
  }
  if (w.tainted && undefined_address(m, w, pc, t.mem, 0)) return;
  if (m.counters != nullptr) count_matrix(m, w, pc, t);
  if (in.op == Op::TensorLoad)
    load_matrix(m, w, pc, t);
  else
    store_matrix(m, w, pc, t);
}

}  // namespace kw::vgpu
