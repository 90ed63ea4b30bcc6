// Storage of resident blocks. A grid may have millions of blocks but only a few are resident, so
// storage is created once and reused. Creating fills everything that is the same for all blocks:
// constants and most special registers. A reset touches only what the next block can see; shared
// memory is not cleared. Instead the block time advances, and stamps of earlier blocks then mean
// "undefined". Clearing all stamps would add work to every block. They are cleared only when the
// clock has used half of its range.
#include "vgpu/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/address.h"
#include "vgpu/machine.h"

namespace kw::vgpu {
namespace {

using ptx::Special;

void fill_lane(std::byte* slot, int width, int lane, uint64_t value) {
  std::memcpy(slot + lane * width, &value, width);
}

uint64_t address_value(const AddressMap& map, const AddressSlot& slot) {
  const uint64_t base =
      slot.function ? map.function_address(slot.index) : map.variable_address(slot.index);
  return base + static_cast<uint64_t>(slot.offset);
}

uint64_t environment_value(const LaunchContext& context, uint32_t number) {
  if (number == 1) return context.workspace >> 32;
  return number == 2 ? context.workspace & 0xffffffff : 0;
}

uint32_t lane_mask(Special which, uint32_t bit) {
  if (which == Special::LanemaskEq) return bit;
  if (which == Special::LanemaskLe) return bit | (bit - 1);
  if (which == Special::LanemaskLt) return bit - 1;
  if (which == Special::LanemaskGe) return ~(bit - 1);
  return ~(bit | (bit - 1));
}

// The value of a register that depends on the lane or is the same for the whole launch.
uint64_t launch_value(const LaunchContext& context, const SpecialSlot& slot, uint32_t warp,
                      int lane) {
  const kernel::Dim3& block = context.launch->block;
  const kernel::Dim3& grid = context.launch->grid;
  const uint32_t thread = warp * kLanes + lane;
  switch (slot.special) {
    case Special::TidX:
      return thread % block.x;
    case Special::TidY:
      return thread / block.x % block.y;
    case Special::TidZ:
      return thread / block.x / block.y;
    case Special::NtidX:
      return block.x;
    case Special::NtidY:
      return block.y;
    case Special::NtidZ:
      return block.z;
    case Special::NctaidX:
    case Special::NclusterIdX:
      return grid.x;
    case Special::NctaidY:
    case Special::NclusterIdY:
      return grid.y;
    case Special::NctaidZ:
    case Special::NclusterIdZ:
      return grid.z;
    case Special::LaneId:
      return lane;
    case Special::WarpId:
      return warp;
    case Special::NwarpId:
      return 64;
    case Special::NsmId:
      return context.sms;
    case Special::GridId:
      return (context.chance >> 40) + static_cast<uint64_t>(context.launch_index) + 1;
    case Special::LanemaskEq:
    case Special::LanemaskLe:
    case Special::LanemaskLt:
    case Special::LanemaskGe:
    case Special::LanemaskGt:
      return lane_mask(slot.special, 1u << lane);
    case Special::DynamicSmemSize:
      return context.dynamic_shared;
    case Special::TotalSmemSize:
    case Special::AggrSmemSize:
      return context.dynamic_shared + context.code->shared_static_bytes;
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
    case Special::ClusterNctaRank:
      return 1;
    case Special::EnvReg:
      return environment_value(context, slot.number);
    default:
      return 0;
  }
}

// The value of a register that changes with the block. Returns false for all others.
bool block_value(const LaunchContext& context, const SpecialSlot& slot, const Block& block,
                 uint64_t& value) {
  switch (slot.special) {
    case Special::CtaidX:
    case Special::ClusterIdX:
      value = block.index[0];
      return true;
    case Special::CtaidY:
    case Special::ClusterIdY:
      value = block.index[1];
      return true;
    case Special::CtaidZ:
    case Special::ClusterIdZ:
      value = block.index[2];
      return true;
    case Special::SmId:
      value = (block.linear + (context.chance >> 32)) % static_cast<uint64_t>(context.sms);
      return true;
    default:
      return false;
  }
}

uint32_t warps_of(const LaunchContext& context) {
  return static_cast<uint32_t>((context.launch->block.count() + kLanes - 1) / kLanes);
}

uint32_t shared_end(const LaunchContext& context) {
  const Code& code = *context.code;
  return (code.shared_static_end + context.dynamic_shared + 2 * kRedZone + 15) & ~15u;
}

// Only units that are wholly inside a variable can be accessed; all others are guards.
void mark_red_zones(const LaunchContext& context, ResidentBlock& block) {
  const uint32_t unit = 1u << block.unit_log2;
  const uint32_t units = block.shared_bytes >> block.unit_log2;
  std::fill(block.shared_writes, block.shared_writes + units, shared_stamp::kRedZone);
  const auto open = [&](uint32_t offset, uint32_t bytes) {
    for (uint32_t at = offset; at + unit <= offset + bytes; at += unit)
      block.shared_writes[at >> block.unit_log2] = 0;
  };
  for (const WindowVariable& variable : context.code->shared) open(variable.offset, variable.bytes);
  open(context.code->shared_static_end, context.dynamic_shared);
}

}  // namespace

uint64_t resident_bytes(const LaunchContext& context) {
  const Code& code = *context.code;
  const uint64_t warps = warps_of(context);
  const uint64_t units = shared_end(context) >> code.shared_unit_log2;
  const uint64_t local =
      code.local_bytes > kWindowStart ? uint64_t{code.local_bytes} * kLanes * 2 : 0;
  return warps * (uint64_t{code.file_bytes} * 2 + local + sizeof(Warp)) + 2 * shared_end(context) +
         units * 24;
}

BlockPool::BlockPool(const LaunchContext& context) : context_(context) {}

std::unique_ptr<ResidentBlock> BlockPool::create() const {
  const Code& code = *context_.code;
  auto block = std::make_unique<ResidentBlock>();
  const uint32_t warps = warps_of(context_);
  block->warp_count = warps;
  block->thread_count = static_cast<uint32_t>(context_.launch->block.count());
  block->warp_storage.resize(warps);
  block->warps = block->warp_storage.data();
  block->async.resize(warps);
  block->products.resize(warps);
  block->files.resize(size_t{code.file_bytes} * warps + 64);
  block->shared_bytes = shared_end(context_);
  block->unit_log2 = code.shared_unit_log2;
  block->shared_storage.resize(block->shared_bytes + 64);
  block->shared = block->shared_storage.data();
  const uint32_t units = block->shared_bytes >> block->unit_log2;
  block->stamps.assign(size_t{units} * 3 + 8, 0);
  block->shared_writes = block->stamps.data();
  block->shared_reads = block->shared_writes + units;
  block->shared_readers = block->shared_reads + units;
  if (code.orders_parts) block->all_readers = std::make_unique<SharedReaders>();
  block->readers = block->all_readers.get();
  mark_red_zones(context_, *block);
  const bool has_local = code.local_bytes > kWindowStart;
  if (has_local) {
    block->local_storage.resize(size_t{code.local_bytes} * kLanes * warps);
    block->local_bits.resize(block->local_storage.size());
  }
  const uintptr_t raw = reinterpret_cast<uintptr_t>(block->files.data());
  std::byte* file = block->files.data() + ((64 - raw % 64) % 64);
  for (uint32_t w = 0; w < warps; ++w) {
    Warp& warp = block->warps[w];
    warp.index = w;
    warp.regs = file + size_t{code.file_bytes} * w;
    if (has_local) {
      warp.local = &block->local_storage[size_t{code.local_bytes} * kLanes * w];
      warp.local_undefined = &block->local_bits[size_t{code.local_bytes} * kLanes * w];
    }
    const uint32_t threads = std::min<uint32_t>(kLanes, block->thread_count - w * kLanes);
    warp.present = threads == kLanes ? ~0u : (1u << threads) - 1;
    std::memcpy(warp.regs, code.initial.data(), code.file_bytes);
    for (const AddressSlot& slot : code.addresses) {
      for (int lane = 0; lane < kLanes; ++lane)
        fill_lane(warp.regs + slot.slot, slot.width, lane, address_value(context_.map, slot));
    }
    for (const SpecialSlot& slot : code.specials) {
      for (int lane = 0; lane < kLanes; ++lane)
        fill_lane(warp.regs + slot.offset, slot.width, lane, launch_value(context_, slot, w, lane));
    }
  }
  return block;
}

void BlockPool::reset(ResidentBlock& block, uint32_t linear) const {
  const Code& code = *context_.code;
  const kernel::Dim3& grid = context_.launch->grid;
  block.linear = linear;
  block.index[0] = linear % grid.x;
  block.index[1] = linear / grid.x % grid.y;
  block.index[2] = linear / grid.x / grid.y;
  block.saved.clear();
  block.origins.clear();
  block.order.reset();
  block.refresh_time = 0;
  forget_order(block);
  // Restarts the clock at half of its range, so that it does not run out inside a block.
  if (block.time > shared_stamp::kMaxTime / 2) {
    const uint32_t units = block.shared_bytes >> block.unit_log2;
    std::fill(block.shared_reads, block.shared_reads + 2 * size_t{units}, 0);
    mark_red_zones(context_, block);
    block.time = 0;
  }
  block.time += 1;
  block.start_time = block.barrier_time = block.time;
  block.dirty = false;
  for (uint32_t w = 0; w < block.warp_count; ++w)
    std::memset(block.clocks[w], 0, block.warp_count * sizeof block.clocks[w][0]);
  block.segment = 0;
  block.activations = 0;
  block.ordered_low = 1;
  block.ordered_high = 0;
  for (uint32_t rest = std::exchange(block.awaited, 0); rest != 0; rest &= rest - 1)
    block.barriers[__builtin_ctz(rest)] = NamedBarrier();
  std::fill(std::begin(block.openings), std::end(block.openings), BarrierOpening());
  if (!block.local_bits.empty())
    std::memset(block.local_bits.data(), 0xff, block.local_bits.size());
  for (uint32_t w = 0; w < block.warp_count; ++w) {
    Warp& warp = block.warps[w];
    warp.live = warp.present;
    warp.group_count = 1;
    warp.groups[0] = {0, warp.present, 0, GroupState::Runnable};
    warp.turn = 0;
    warp.rotate = warp.tainted = warp.spinning = false;
    warp.lane_clocks = nullptr;
    warp.executed = 0;
    warp.quiet_slices = 0;
    warp.poll = Poll();
    block.async[w] = AsyncQueue();
    block.products[w] = GroupQueue();
    for (const ByteRange& range : code.zeroed)
      std::memset(warp.regs + range.offset, 0, range.bytes);
    for (const SpecialSlot& slot : code.specials) {
      uint64_t value = 0;
      if (!block_value(context_, slot, block, value)) continue;
      for (int lane = 0; lane < kLanes; ++lane)
        fill_lane(warp.regs + slot.offset, slot.width, lane, value);
    }
  }
}

ResidentBlock& BlockPool::start(uint32_t linear) {
  if (free_.empty()) {
    all_.push_back(create());
    free_.push_back(all_.back().get());
  }
  ResidentBlock& block = *free_.back();
  free_.pop_back();
  reset(block, linear);
  return block;
}

void BlockPool::finish(ResidentBlock& block) { free_.push_back(&block); }

std::byte* BlockPool::shadow(ResidentBlock& block, const Warp& warp) {
  const size_t bytes = context_.code->file_bytes;
  if (block.shadows.empty()) block.shadows.resize(bytes * block.warp_count + 64);
  const uintptr_t raw = reinterpret_cast<uintptr_t>(block.shadows.data());
  std::byte* base = block.shadows.data() + ((64 - raw % 64) % 64) + bytes * warp.index;
  std::memset(base, 0, bytes);
  return base;
}

}  // namespace kw::vgpu
