// Kernels see storage, which may have strides and gaps; the host works with dense tensors. So each
// buffer gets its own allocation and begins in it at the declared alignment. Guard zones of 16 KiB
// lie on both sides, and the whole allocation is filled with poison first. Dense contents are
// copied directly; others are scattered and gathered on the host. One large allocation for all
// buffers would be cheaper, but an overrun would then hit a neighbour instead of a guard. The cost
// is 32 KiB more per buffer, and slow transfers for strided tensors.
#include "cuda/buffers.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "cuda/poison.h"
#include "cuda/storage_layout.h"
#include "ports/audit_hash.h"

namespace kw::cuda {
namespace {

using kernel::Buffer;
using kernel::Fill;
using kernel::Role;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Sources from_host(const ConstBytes& inputs) {
  Sources sources;
  for (const auto& bytes : inputs) sources.push_back({bytes, {}, 0});
  return sources;
}

FaultOr<std::vector<std::byte>> on_host(const Context& context, const Source& source) {
  if (source.device.address == 0)
    return std::vector<std::byte>(source.host.begin(), source.host.end());
  std::vector<std::byte> bytes(source.device.bytes);
  KW_TRY(context.download(bytes.data(), source.device.address, bytes.size(), "reading an input"));
  return bytes;
}

bool BufferSet::is_plain(size_t index) const {
  const Buffer& buffer = program_->buffers[index];
  return is_dense(buffer) && dense_bytes(buffer) == static_cast<uint64_t>(buffer.bytes);
}

DeviceSpan BufferSet::span(size_t index) const {
  const Buffer& buffer = program_->buffers[index];
  if (!buffer.present || buffer.bytes == 0) return {};
  return {addresses_[index], static_cast<uint64_t>(buffer.bytes)};
}

FaultOr<BufferSet> BufferSet::create(const Context& context, const kernel::Program& program,
                                     int misalign_bytes, uint64_t seed) {
  BufferSet set(context, program);
  for (const Buffer& buffer : program.buffers) {
    KW_TRY(set.add(buffer, misalign_bytes, seed + set.slots_.size()));
  }
  return set;
}

MaybeFault BufferSet::add(const Buffer& buffer, int misalign_bytes, uint64_t seed) {
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
  // cuMemAlloc guarantees 256 bytes; larger alignments are made here.
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

MaybeFault BufferSet::upload(const Sources& inputs) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!is_given(buffer)) continue;
    KW_CHECK(inputs[i].bytes() == dense_bytes(buffer), "input sizes were checked");
    KW_TRY(upload_one(i, inputs[i]));
  }
  return Done{};
}

MaybeFault BufferSet::upload_one(size_t index, const Source& source) {
  const std::string doing = "uploading '" + program_->buffers[index].name + "'";
  const CuDevicePtr to = addresses_[index];
  if (!is_plain(index)) {
    const std::vector<std::byte> dense = KW_TRY(on_host(*context_, source));
    const std::vector<std::byte> image = storage_image(index, dense);
    return context_->upload(to, image.data(), image.size(), doing);
  }
  if (source.device.address == 0)
    return context_->upload(to, source.host.data(), source.host.size(), doing);
  return context_->check(context_->api().copy_on_device(to, source.device.address,
                                                        source.device.bytes, context_->stream()),
                         doing);
}

MaybeFault BufferSet::enqueue_zero_fills() {
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

MaybeFault BufferSet::download(const MutableBytes& outputs) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!is_returned(buffer)) continue;
    KW_CHECK(outputs[i].size() == dense_bytes(buffer), "output sizes were checked");
    const std::string doing = "downloading '" + buffer.name + "'";
    if (is_plain(i)) {
      KW_TRY(context_->download(outputs[i].data(), addresses_[i], outputs[i].size(), doing));
    } else {
      std::vector<std::byte> image(static_cast<size_t>(buffer.bytes));
      KW_TRY(context_->download(image.data(), addresses_[i], image.size(), doing));
      gather(buffer, image, outputs[i]);
    }
  }
  return Done{};
}

FaultOr<std::vector<uint64_t>> BufferSet::hash_outputs(JobKernels& kernels, uint64_t seed,
                                                       const Deadline& deadline) {
  std::vector<uint64_t> hashes(slots_.size());
  std::vector<DeviceSpan> spans;
  std::vector<size_t> owners;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!is_returned(buffer) || span(i).address == 0) continue;
    if (is_plain(i)) {
      spans.push_back(span(i));
      owners.push_back(i);
      continue;
    }
    std::vector<std::byte> image(static_cast<size_t>(buffer.bytes));
    KW_TRY(context_->download(image.data(), addresses_[i], image.size(),
                              "downloading '" + buffer.name + "'"));
    std::vector<std::byte> dense(dense_bytes(buffer));
    gather(buffer, image, dense);
    hashes[i] = ports::audit_hash(dense, seed);
  }
  const std::vector<uint64_t> found = KW_TRY(kernels.hash_now(spans, seed, deadline));
  for (size_t i = 0; i < owners.size(); ++i) hashes[owners[i]] = found[i];
  return hashes;
}

}  // namespace kw::cuda
