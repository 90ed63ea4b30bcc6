#include "cuda/buffers.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "cuda/layout.h"
#include "cuda/poison.h"

namespace kw::cuda {
namespace {

using kernel::Buffer;
using kernel::Fill;
using kernel::Role;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_given(const Buffer& buffer) {
  return buffer.role == Role::Input || buffer.role == Role::Inout;
}
bool is_returned(const Buffer& buffer) {
  return buffer.role == Role::Output || buffer.role == Role::Inout;
}

/// True when the dense tensor's bytes are the storage's bytes.
bool is_plain(const Buffer& buffer) {
  return is_dense(buffer) && dense_bytes(buffer) == static_cast<uint64_t>(buffer.bytes);
}

}  // namespace

Got<BufferSet> BufferSet::create(const Context& context, const kernel::Program& program,
                                 int misalign_bytes, uint64_t seed) {
  BufferSet set(context, program);
  for (const Buffer& buffer : program.buffers) {
    KW_TRY(set.add(buffer, misalign_bytes, seed + set.slots_.size()));
  }
  return set;
}

Went BufferSet::add(const Buffer& buffer, int misalign_bytes, uint64_t seed) {
  Slot slot;
  if (!buffer.present) {
    slots_.push_back(std::move(slot));
    addresses_.push_back(0);
    return Done{};
  }
  const auto bytes = static_cast<uint64_t>(buffer.bytes);
  const auto align = static_cast<uint64_t>(buffer.align);
  const uint64_t shift = round_up(static_cast<uint64_t>(std::max(0, misalign_bytes)), align);
  const uint64_t total = round_up(kGuardBytes + align + shift + bytes + kGuardBytes, 4);
  slot.memory = KW_TRY(DeviceMemory::allocate(*context_, total, "buffer '" + buffer.name + "'"));
  // cuMemAlloc promises 256 bytes; a larger alignment is made here.
  slot.offset =
      round_up(slot.memory.address() + kGuardBytes, align) - slot.memory.address() + shift;
  slot.pattern = poison_pattern(buffer.dtype, seed, !is_dense(buffer));
  const std::string doing = "filling buffer '" + buffer.name + "'";
  const Api& api = context_->api();
  const CuDevicePtr address = slot.memory.address() + slot.offset;
  KW_TRY(context_->check(
      api.fill_words(slot.memory.address(), slot.pattern, total / 4, context_->stream()), doing));
  if (buffer.role == Role::Scratch && buffer.fill == Fill::ZeroKept && bytes > 0) {
    KW_TRY(context_->check(api.fill_bytes(address, 0, bytes, context_->stream()), doing));
  }
  slots_.push_back(std::move(slot));
  addresses_.push_back(address);
  return Done{};
}

uint64_t BufferSet::storage_bytes() const {
  uint64_t total = 0;
  for (const Buffer& buffer : program_->buffers) {
    if (buffer.present) total += static_cast<uint64_t>(buffer.bytes);
  }
  return total;
}

std::vector<std::byte> BufferSet::storage_image(size_t index,
                                                std::span<const std::byte> dense) const {
  const Buffer& buffer = program_->buffers[index];
  const auto pattern = std::bit_cast<std::array<std::byte, 4>>(slots_[index].pattern);
  std::vector<std::byte> image(static_cast<size_t>(buffer.bytes));
  for (size_t i = 0; i < image.size(); ++i) image[i] = pattern[(addresses_[index] + i) % 4];
  scatter(buffer, dense, image);
  return image;
}

Went BufferSet::upload(const ConstBytes& inputs) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || !is_given(buffer) || buffer.bytes == 0) continue;
    KW_CHECK(inputs[i].size() == dense_bytes(buffer), "input sizes were checked");
    const std::string doing = "uploading '" + buffer.name + "'";
    if (is_plain(buffer)) {
      KW_TRY(context_->upload(addresses_[i], inputs[i].data(), inputs[i].size(), doing));
    } else {
      const std::vector<std::byte> image = storage_image(i, inputs[i]);
      KW_TRY(context_->upload(addresses_[i], image.data(), image.size(), doing));
    }
  }
  return Done{};
}

Went BufferSet::copy_inputs(const BufferSet& other) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || !is_given(buffer) || buffer.bytes == 0) continue;
    KW_TRY(context_->check(
        context_->api().copy_on_device(addresses_[i], other.addresses_[i],
                                       static_cast<size_t>(buffer.bytes), context_->stream()),
        "copying '" + buffer.name + "'"));
  }
  return Done{};
}

Went BufferSet::keep_inouts() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || buffer.role != Role::Inout || buffer.bytes == 0) continue;
    const auto bytes = static_cast<uint64_t>(buffer.bytes);
    slots_[i].kept =
        KW_TRY(DeviceMemory::allocate(*context_, bytes, "the copy of '" + buffer.name + "'"));
    KW_TRY(context_->check(context_->api().copy_on_device(slots_[i].kept.address(), addresses_[i],
                                                          bytes, context_->stream()),
                           "copying '" + buffer.name + "'"));
  }
  return Done{};
}

Went BufferSet::restore_inouts() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const DeviceMemory& kept = slots_[i].kept;
    if (kept.size() == 0) continue;
    const CuResult code = context_->api().copy_on_device(addresses_[i], kept.address(), kept.size(),
                                                         context_->stream());
    if (code != kSuccess) return context_->check(code, "restoring an inout");
  }
  return Done{};
}

Went BufferSet::enqueue_zero_fills() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || buffer.role != Role::Scratch || buffer.fill != Fill::Zero ||
        buffer.bytes == 0)
      continue;
    const CuResult code = context_->api().fill_bytes(
        addresses_[i], 0, static_cast<size_t>(buffer.bytes), context_->stream());
    if (code != kSuccess) return context_->check(code, "zeroing '" + buffer.name + "'");
  }
  return Done{};
}

Went BufferSet::download(const MutableBytes& outputs) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || !is_returned(buffer) || buffer.bytes == 0) continue;
    KW_CHECK(outputs[i].size() == dense_bytes(buffer), "output sizes were checked");
    const std::string doing = "downloading '" + buffer.name + "'";
    if (is_plain(buffer)) {
      KW_TRY(context_->download(outputs[i].data(), addresses_[i], outputs[i].size(), doing));
    } else {
      std::vector<std::byte> image(static_cast<size_t>(buffer.bytes));
      KW_TRY(context_->download(image.data(), addresses_[i], image.size(), doing));
      gather(buffer, image, outputs[i]);
    }
  }
  return Done{};
}

}  // namespace kw::cuda
