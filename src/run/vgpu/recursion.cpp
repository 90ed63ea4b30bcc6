#include "vgpu/recursion.h"

#include <fmt/core.h>

#include <cstring>

#include "vgpu/machine.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxSaved = 256 * 1024;  // bytes per lane

std::vector<std::byte>& stack_of(Machine& m, const Warp& w, int lane) {
  auto& block = static_cast<ResidentBlock&>(*m.block);
  if (block.saved.empty()) block.saved.resize(size_t{block.warp_count} * kLanes);
  return block.saved[w.index * kLanes + static_cast<size_t>(lane)];
}

void too_deep(Machine& m, const Warp& w, int lane, uint32_t pc, size_t bytes) {
  report_fatal(m, record::FindingKind::OutOfBoundsLocal, actor(m, w, lane, pc), std::nullopt, [&] {
    return fmt::format("recursion overflows the thread's stack of {} bytes", bytes);
  });
}

// Appends one slot of one lane to the stack; pop takes it from the end.
void push(std::vector<std::byte>& stack, const std::byte* file, const SavedSlot& slot, int lane) {
  if (slot.width == 0) {
    uint32_t mask = 0;
    std::memcpy(&mask, file + slot.offset, 4);
    stack.push_back(static_cast<std::byte>(mask >> lane & 1));
    return;
  }
  const std::byte* from = file + slot.offset + static_cast<uint32_t>(lane) * slot.width;
  stack.insert(stack.end(), from, from + slot.width);
}

void pop(std::vector<std::byte>& stack, std::byte* file, const SavedSlot& slot, int lane) {
  const size_t bytes = slot.width == 0 ? 1 : slot.width;
  const std::byte* from = stack.data() + stack.size() - bytes;
  if (slot.width == 0) {
    uint32_t mask = 0;
    std::memcpy(&mask, file + slot.offset, 4);
    mask = *from != std::byte{0} ? mask | 1u << lane : mask & ~(1u << lane);
    std::memcpy(file + slot.offset, &mask, 4);
  } else {
    std::memcpy(file + slot.offset + static_cast<uint32_t>(lane) * slot.width, from, slot.width);
  }
  stack.resize(stack.size() - bytes);
}

uint32_t& used_bytes(Warp& w, const Code& code, int lane) {
  return *reinterpret_cast<uint32_t*>(w.regs + code.stack_slot + lane * 4);
}

}  // namespace

void save_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::vector<std::byte>& stack = stack_of(m, w, lane);
    if (stack.size() > kMaxSaved) return too_deep(m, w, lane, pc, kMaxSaved);
    for (const SavedSlot& slot : frame.saved) push(stack, w.regs, slot, lane);
    for (const SavedSlot& slot : frame.saved) {
      if (w.tainted) push(stack, w.shadow, slot, lane);
    }
    stack.push_back(static_cast<std::byte>(w.tainted ? 1 : 0));
  }
}

void restore_frame(Machine& m, Warp& w, const ActivationFrame& frame, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::vector<std::byte>& stack = stack_of(m, w, lane);
    size_t bytes = 0;
    for (const SavedSlot& slot : frame.saved) bytes += slot.width == 0 ? 1 : slot.width;
    if (stack.size() < bytes + 1) continue;  // only when the PTX text jumps here directly
    const bool had_shadow = stack.back() != std::byte{0} && stack.size() >= 2 * bytes + 1;
    stack.pop_back();
    std::vector<std::byte> none(had_shadow || !w.tainted ? 0 : bytes);
    for (auto slot = frame.saved.rbegin(); slot != frame.saved.rend(); ++slot) {
      if (had_shadow && w.tainted) pop(stack, w.shadow, *slot, lane);
      if (had_shadow && !w.tainted)
        stack.resize(stack.size() - (slot->width == 0 ? 1 : slot->width));
      if (!had_shadow && w.tainted) pop(none, w.shadow, *slot, lane);
    }
    for (auto slot = frame.saved.rbegin(); slot != frame.saved.rend(); ++slot)
      pop(stack, w.regs, *slot, lane);
  }
}

void enter_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask) {
  const Code& code = *m.launch.code;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    uint32_t& used = used_bytes(w, code, lane);
    if (used > kStackBytes || frame.stack_bytes > kStackBytes - used)
      return too_deep(m, w, lane, pc, kStackBytes);
    const uint32_t base = code.stack_start + used;
    used += frame.stack_bytes;
    std::memset(w.local_undefined + size_t{code.local_bytes} * static_cast<size_t>(lane) + base,
                0xff, frame.stack_bytes);
    for (const StackAddress& address : frame.addresses) {
      const uint64_t value = base + static_cast<uint64_t>(address.offset);
      std::memcpy(w.regs + address.slot + lane * address.width, &value, address.width);
      if (w.tainted) std::memset(w.shadow + address.slot + lane * address.width, 0, address.width);
    }
  }
}

void leave_frame(Machine& m, Warp& w, uint32_t bytes, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    uint32_t& used = used_bytes(w, *m.launch.code, __builtin_ctz(rest));
    used -= used < bytes ? used : bytes;
  }
}

}  // namespace kw::vgpu
