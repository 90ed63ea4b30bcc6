// wgmma multiplies matrices in shared memory while its threads continue, so a kernel may overwrite
// the matrices too early. The product is computed when it is issued. A copy of the bytes it read is
// kept until the wait. If memory differs at the wait, that is a race. Stamps alone miss it when the
// reading thread writes, because its own accesses count as ordered. A write of equal bytes is
// missed, and so are products beyond 1024 pending ones per warp. The address of a 16-byte unit
// follows the descriptor and the swizzle that the ISA defines.
#include "vgpu/group_products.h"

#include <fmt/core.h>

#include <cstring>

#include "vgpu/access.h"
#include "vgpu/machine.h"
#include "vgpu/matrix_values.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

constexpr uint32_t kUnit = 16;            // bytes that stay contiguous in every layout
constexpr size_t kMaxProducts = 1 << 10;  // pending, per warp

uint64_t wide_value(const Warp& w, uint32_t slot) {
  uint64_t value = 0;
  std::memcpy(&value, w.regs + slot, 8);  // of lane 0: all lanes have the same
  return value;
}

/// The layout of a matrix in memory, from the 64-bit descriptor that the ISA defines.
struct Place {
  uint32_t start, leading, stride;  // bytes
  uint32_t swizzle;                 // units per line that are permuted from line to line; 1: none
  bool turned;                      // k advances from line to line
};

Place place_of(uint64_t descriptor, bool turned) {
  constexpr uint32_t kUnits[] = {1, 8, 4, 2};
  const auto field = [&](int at) { return static_cast<uint32_t>(descriptor >> at & 0x3fff) * 16; };
  return {field(0), field(16), field(32), kUnits[descriptor >> 62], turned};
}

// The byte address of the unit with element (line, k). Eight lines by eight k form a piece.
uint32_t unit_address(const Place& p, int line, int k, int size) {
  const int per_unit = static_cast<int>(kUnit) / size;
  const auto width = static_cast<int>(p.swizzle);
  uint32_t at = p.start;
  if (p.turned) {
    const int unit = line / per_unit;
    at += static_cast<uint32_t>(k % 8 * width) * kUnit;
    at += width == 1
              ? static_cast<uint32_t>(unit) * p.stride + static_cast<uint32_t>(k / 8) * p.leading
              : static_cast<uint32_t>(unit % width) * kUnit +
                    static_cast<uint32_t>(unit / width) * p.leading +
                    static_cast<uint32_t>(k / 8) * p.stride;
  } else {
    const int unit = k / per_unit;
    at += static_cast<uint32_t>(line % 8 * width) * kUnit +
          static_cast<uint32_t>(line / 8) * p.stride +
          static_cast<uint32_t>(unit) * (width == 1 ? p.leading : kUnit);
  }
  // Memory is divided into lines of 128 bytes. The line number changes the place of the unit inside
  // the line.
  return at ^ ((at >> 7 & (p.swizzle - 1)) << 4);
}

/// One matrix of a product, indexed by line and k.
struct Values {
  std::vector<double> value;
  std::vector<uint8_t> undefined;
};

class Product {
 public:
  Product(Machine& m, Warp& w, uint32_t pc)
      : m_(m), w_(w), pc_(pc), p_(m.launch.code->group_products[m.code[pc].target]) {}

  void run() {
    Values left, right;
    if (p_.left_in_registers)
      left = held_left();
    else
      left = in_memory(place_of(wide_value(w_, p_.left[0]), p_.left_turned),
                       static_cast<int>(w_.index % 4) * kGroupRows, kGroupRows);
    right = in_memory(place_of(wide_value(w_, p_.right), p_.right_turned), 0, p_.columns);
    multiply(left, right);
    GroupQueue& queue = running(m_).products[w_.index];
    pending_.pc = pc_;
    pending_.group = queue.group;
    if (queue.pending.size() < kMaxProducts) queue.pending.push_back(std::move(pending_));
  }

 private:
  int size() const { return ptx::type_size(p_.type); }

  Values in_memory(const Place& place, int first, int lines) {
    const int per_unit = static_cast<int>(kUnit) / size(), depth = p_.depth;
    Values out{std::vector<double>(static_cast<size_t>(lines * depth)),
               std::vector<uint8_t>(static_cast<size_t>(lines * depth))};
    const int line_step = place.turned ? per_unit : 1, k_step = place.turned ? 1 : per_unit;
    for (int line = 0; line < lines; line += line_step) {
      for (int k = 0; k < depth; k += k_step) {
        std::byte data[kUnit] = {}, unknown[kUnit] = {};
        read_unit(unit_address(place, first + line, k, size()), line % kLanes, data, unknown);
        for (int i = 0; i < per_unit; ++i) {
          const int at = place.turned ? (line + i) * depth + k : line * depth + k + i;
          if (place.turned && line + i >= lines) break;
          out.value[static_cast<size_t>(at)] = element_value(p_.type, data + i * size());
          for (int b = 0; b < size(); ++b)
            out.undefined[static_cast<size_t>(at)] |= static_cast<uint8_t>(unknown[i * size() + b]);
        }
      }
    }
    return out;
  }

  void read_unit(uint32_t address, int lane, std::byte* data, std::byte* unknown) {
    const Target target = resolve(m_, w_, lane, pc_, ptx::Space::Shared, address, kUnit, false);
    if (target.kind != Target::Kind::Shared) return;
    const LaneAccess access{&w_, lane, pc_, AccessKind::Read, false, nullptr, nullptr, kUnit};
    if (read_piece(m_, access, target, data, unknown))
      begin_taint(m_, w_, pc_, target.region, target.offset);
    pending_.pieces.push_back(static_cast<uint32_t>(target.offset));
    pending_.bytes.insert(pending_.bytes.end(), data, data + kUnit);
  }

  Values held_left() const {
    const int per = 4 / size(), depth = p_.depth;
    Values out{std::vector<double>(static_cast<size_t>(kGroupRows * depth)),
               std::vector<uint8_t>(static_cast<size_t>(kGroupRows * depth))};
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int r = 0; r < 4; ++r) {
        for (int i = 0; i < per; ++i) {
          const int row = lane / 4 + r % 2 * 8, k = lane % 4 * per + r / 2 * 4 * per + i;
          const uint32_t from = p_.left[r] + static_cast<uint32_t>(lane * 4 + i * size());
          const auto at = static_cast<size_t>(row * depth + k);
          out.value[at] = element_value(p_.type, w_.regs + from);
          for (int b = 0; w_.tainted && b < size(); ++b)
            out.undefined[at] |= static_cast<uint8_t>(w_.shadow[from + static_cast<uint32_t>(b)]);
        }
      }
    }
    return out;
  }

  void multiply(const Values& left, const Values& right) {
    uint32_t keep = 0;
    std::memcpy(&keep, w_.regs + p_.keep, 4);
    const bool adds = ((keep & 1) != 0) != p_.keep_negate;
    const double sign = p_.left_minus != p_.right_minus ? -1 : 1;
    const int wide = ptx::type_size(p_.sum_type), per = 4 / wide;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < p_.columns / 2; ++i) {
        const int row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        const uint32_t at = p_.sums[static_cast<size_t>(i / per)] +
                            static_cast<uint32_t>(lane * 4 + i % per * wide);
        double sum = adds ? element_value(p_.sum_type, w_.regs + at) : 0;
        uint8_t undefined = 0;
        for (int b = 0; adds && w_.tainted && b < wide; ++b)
          undefined |= static_cast<uint8_t>(w_.shadow[at + static_cast<uint32_t>(b)]);
        const auto from = static_cast<size_t>(row * p_.depth),
                   to = static_cast<size_t>(column * p_.depth);
        for (size_t k = 0; k < static_cast<size_t>(p_.depth); ++k) {
          sum += sign * left.value[from + k] * right.value[to + k];
          undefined |= left.undefined[from + k] | right.undefined[to + k];
        }
        store_value(p_.sum_type, sum, false, w_.regs + at);
        if (w_.tainted)
          std::memset(w_.shadow + at, undefined != 0 ? 0xff : 0, static_cast<size_t>(wide));
      }
    }
  }

  Machine& m_;
  Warp& w_;
  uint32_t pc_;
  const GroupProduct& p_;
  PendingProduct pending_;
};

// The memory that the product reads must not change until the wait.
void check_unchanged(Machine& m, Warp& w, uint32_t pc, const PendingProduct& product) {
  const std::byte* const shared = m.block->shared;
  for (size_t i = 0; i < product.pieces.size(); ++i) {
    if (std::memcmp(shared + product.pieces[i], product.bytes.data() + i * kUnit, kUnit) == 0)
      continue;
    report(m, record::FindingKind::SharedRace, record::Certainty::Certain,
           actor(m, w, 0, product.pc), {}, actor(m, w, 0, pc), [] {
             return std::string(
                 "shared memory that wgmma reads is overwritten before it is waited for");
           });
    return;
  }
}

void wait(Machine& m, Warp& w, uint32_t pc, uint32_t allowed) {
  GroupQueue& queue = running(m).products[w.index];
  size_t kept = 0;
  for (size_t i = 0; i < queue.pending.size(); ++i) {
    PendingProduct& one = queue.pending[i];
    if (one.group < queue.group && queue.group - one.group > allowed)
      check_unchanged(m, w, pc, one);
    else if (kept++ != i)
      queue.pending[kept - 1] = std::move(one);
  }
  queue.pending.resize(kept);
}

}  // namespace

void run_group_product(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  watch_clock(m);
  if (mask != ~0u) {
    report_fatal(m, record::FindingKind::CollectiveDeadlock, actor(m, w, __builtin_ctz(mask), pc),
                 std::nullopt, [&] {
                   return fmt::format("wgmma needs all 32 lanes of the warp, {} are here",
                                      __builtin_popcount(mask));
                 });
    return;
  }
  if (in.op == Op::GroupMma) return Product(m, w, pc).run();
  if (in.op == Op::GroupCommit) {
    ++running(m).products[w.index].group;
    return;
  }
  wait(m, w, pc, in.target);
}

}  // namespace kw::vgpu
