// A real GPU does not report most memory errors, so the buffers are checked after a call. A guard
// zone that changed means a write out of bounds. An input that changed, "kept" scratch that is not
// zero, and poison left in an output are findings too. compute-sanitizer would see more, also
// reads, but it slows a kernel down many times.
// The cost: a write beyond the guard zones is missed, and the finding cannot name the thread.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "cuda/buffers.h"
#include "cuda/poison.h"

namespace kw::cuda {
namespace {

using kernel::Buffer;
using kernel::Role;
using record::Finding;
using record::FindingKind;

constexpr uint64_t kChunkBytes = uint64_t{8} << 20;

int64_t element_of(const Buffer& buffer, int64_t byte) {
  return byte / tensor::dtype_size(buffer.dtype);
}

/// Reads device memory in chunks; stops when `look(offset, bytes)` returns true.
template <typename Look>
MaybeFault read_in_chunks(const Context& context, CuDevicePtr address, uint64_t bytes,
                          const std::string& doing, Look look) {
  std::vector<std::byte> chunk(std::min(bytes, kChunkBytes));
  for (uint64_t offset = 0; offset < bytes; offset += chunk.size()) {
    chunk.resize(std::min(bytes - offset, kChunkBytes));
    KW_TRY(context.download(chunk.data(), address + offset, chunk.size(), doing));
    if (look(offset, std::span<const std::byte>(chunk))) break;
  }
  return Done{};
}

size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

}  // namespace

Finding BufferSet::finding(FindingKind kind, size_t index, int64_t byte) const {
  const Buffer& buffer = program_->buffers[index];
  Finding finding;
  finding.kind = kind;
  finding.buffer = buffer.name;
  finding.element = byte < 0 ? -1 : element_of(buffer, byte);
  if (program_->launches.size() == 1) {
    finding.kernel = program_->launches[0].kernel;
    finding.at = {program_->module_name, 0, 0};
  }
  return finding;
}

FaultOr<std::vector<Finding>> BufferSet::check_guards() {
  std::vector<Finding> findings;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!program_->buffers[i].present) continue;
    const uint64_t end = slots_[i].offset + static_cast<uint64_t>(program_->buffers[i].bytes);
    KW_TRY(check_zone(i, 0, slots_[i].offset, findings));
    KW_TRY(check_zone(i, end, slots_[i].memory.size() - end, findings));
  }
  return findings;
}

MaybeFault BufferSet::check_zone(size_t index, uint64_t offset, uint64_t bytes,
                                 std::vector<Finding>& findings) {
  const Buffer& buffer = program_->buffers[index];
  const Slot& slot = slots_[index];
  std::vector<std::byte> zone(bytes);
  const CuDevicePtr address = slot.memory.address() + offset;
  KW_TRY(context_->download(zone.data(), address, bytes,
                            "reading the guard of '" + buffer.name + "'"));
  const auto phase = static_cast<unsigned>(offset % 4);
  if (first_unlike(zone, slot.pattern, phase) == bytes) return Done{};

  const bool before = offset == 0;
  int64_t hit = 0;
  int64_t nearest = -1;  // distance in bytes from the buffer's edge
  for (size_t i = 0; i < bytes; ++i) {
    const auto expected = static_cast<std::byte>(slot.pattern >> (8 * ((i + phase) % 4)));
    if (zone[i] == expected) continue;
    ++hit;
    if (before || nearest < 0)
      nearest = before ? static_cast<int64_t>(bytes - i) : static_cast<int64_t>(i);
    zone[i] = expected;
  }
  Finding found =
      finding(FindingKind::OutOfBoundsGlobal, index, before ? -1 : buffer.bytes + nearest);
  found.message =
      before ? fmt::format(
                   "writes before '{}': {} bytes changed in the {} before it, the nearest {} bytes "
                   "before its "
                   "start",
                   buffer.name, hit, bytes, nearest)
             : fmt::format(
                   "writes past the end of '{}': {} bytes changed in the {} after it, the first at "
                   "byte {} "
                   "(element {}; it has {} bytes)",
                   buffer.name, hit, bytes, buffer.bytes + nearest, found.element, buffer.bytes);
  found.count = hit;
  findings.push_back(std::move(found));
  return context_->upload(address, zone.data(), bytes,
                          "restoring the guard of '" + buffer.name + "'");
}

FaultOr<std::vector<Finding>> BufferSet::check_contents(JobKernels& kernels, const Sources& inputs,
                                                        const Deadline& deadline) {
  std::vector<Finding> findings;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || buffer.bytes == 0) continue;
    if (buffer.role == Role::Input) KW_TRY(check_input(kernels, i, inputs[i], deadline, findings));
    if (buffer.role == Role::Scratch && buffer.fill == kernel::Fill::ZeroKept)
      KW_TRY(check_kept(i, findings));
  }
  return findings;
}

MaybeFault BufferSet::check_input(JobKernels& kernels, size_t index, const Source& source,
                                  const Deadline& deadline, std::vector<Finding>& findings) {
  // If the hashes on the device agree, the contents need not be downloaded.
  if (is_plain(index) && source.device.address != 0) {
    const auto hashes = KW_TRY(kernels.hash_now({span(index)}, 0, deadline));
    if (hashes[0] == source.hash) return Done{};
  }
  const std::vector<std::byte> dense = KW_TRY(on_host(*context_, source));
  if (is_plain(index)) return compare_input(index, dense, findings);
  return compare_input(index, storage_image(index, dense), findings);
}

MaybeFault BufferSet::compare_input(size_t index, std::span<const std::byte> dense,
                                    std::vector<Finding>& findings) {
  const Buffer& buffer = program_->buffers[index];
  int64_t changed = -1;
  KW_TRY(read_in_chunks(
      *context_, addresses_[index], dense.size(), "reading back '" + buffer.name + "'",
      [&](uint64_t offset, std::span<const std::byte> chunk) {
        const auto expected = dense.subspan(offset, chunk.size());
        if (std::memcmp(chunk.data(), expected.data(), chunk.size()) == 0) return false;
        changed = static_cast<int64_t>(offset + first_difference(chunk, expected));
        return true;
      }));
  if (changed < 0) return Done{};
  Finding found = finding(FindingKind::WriteToInput, index, changed);
  found.message =
      fmt::format("the input '{}' was changed by the call, first at byte {} (element {})",
                  buffer.name, changed, found.element);
  findings.push_back(std::move(found));
  return Done{};
}

MaybeFault BufferSet::check_kept(size_t index, std::vector<Finding>& findings) {
  const Buffer& buffer = program_->buffers[index];
  int64_t dirty = -1;
  KW_TRY(read_in_chunks(*context_, addresses_[index], static_cast<uint64_t>(buffer.bytes),
                        "reading back '" + buffer.name + "'",
                        [&](uint64_t offset, std::span<const std::byte> chunk) {
                          const size_t at = first_unlike(chunk, 0, 0);
                          if (at == chunk.size()) return false;
                          dirty = static_cast<int64_t>(offset + at);
                          return true;
                        }));
  if (dirty < 0) return Done{};
  Finding found = finding(FindingKind::ScratchNotRestored, index, dirty);
  found.message = fmt::format(
      "the scratch '{}' is declared \"= 0 kept\" but is not zero after the call, first at byte "
      "{} (element {})",
      buffer.name, dirty, found.element);
  findings.push_back(std::move(found));
  return Done{};
}

std::vector<Finding> BufferSet::check_written(const MutableBytes& outputs) const {
  std::vector<Finding> findings;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (!buffer.present || buffer.role != Role::Output || outputs[i].empty()) continue;
    const Unwritten left = find_unwritten(buffer.dtype, outputs[i], slots_[i].pattern,
                                          static_cast<unsigned>(addresses_[i] % 4));
    if (left.count == 0) continue;
    const int64_t size = tensor::dtype_size(buffer.dtype);
    Finding found = finding(FindingKind::OutputNotWritten, i, left.first * size);
    found.certainty = record::Certainty::Warning;
    found.count = left.count;
    found.message = fmt::format(
        "{} of {} elements of the output '{}' still hold the run's poison pattern, first element "
        "{}: they were not written, or only with poison read elsewhere",
        left.count, outputs[i].size() / static_cast<size_t>(size), buffer.name, left.first);
    findings.push_back(std::move(found));
  }
  return findings;
}

}  // namespace kw::cuda
