// Builds the memory of one call and checks it afterwards. Dense inputs are used in place and dense
// outputs are computed in the result itself: a copy would cost as much as a light kernel. Buffers
// with strides are spread out first, with poison in the gaps. Each buffer has its own region, at an
// address that a candidate cannot predict. After the last launch it checks that every output
// element was written, scratch declared "= 0 kept" is zero again, and no module variable changed.
// The stamps give the instruction that changed it.
#include "vgpu/program_memory.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/layout.h"

namespace kw::vgpu {
namespace {

using kernel::Fill;
using kernel::Role;

constexpr uint64_t kWorkspaceBytes = 1024;
constexpr int kPoison = 0xff;  // NaN in every float format

// Fast check for the usual case: every unit has a stamp.
bool all_written(const MemoryRegion& region) {
  if (region.writes == nullptr) return region.size == 0 || (region.is_result && region.defined);
  const uint64_t count = unit_count(region);
  constexpr uint64_t kChunk = 1024;
  for (uint64_t begin = 0; begin < count; begin += kChunk) {
    uint64_t missing = 0;
    for (uint64_t u = begin; u < std::min(count, begin + kChunk); ++u)
      missing |= static_cast<uint64_t>(region.writes[u] == 0);
    if (missing != 0) return false;
  }
  return true;
}

record::Finding finding_after(record::FindingKind kind, const LaunchSegments& last,
                              const kernel::Program& program, const std::string& buffer,
                              int64_t element) {
  record::Finding finding;
  finding.kind = kind;
  finding.buffer = buffer;
  finding.element = element;
  finding.launch = static_cast<int>(program.launches.size()) - 1;
  if (last.launch != nullptr) {
    finding.kernel = last.launch->kernel;
    finding.at = {program.module_name, last.launch->line, 0};
  }
  return finding;
}

AddressMap map_of(const Image& image, const kernel::Program& program, uint64_t places, bool close) {
  uint64_t largest = kWorkspaceBytes;
  for (const kernel::Buffer& buffer : program.buffers)
    largest = std::max(largest, static_cast<uint64_t>(std::max<int64_t>(0, buffer.bytes)));
  for (const ptx::Variable& variable : image.module.variables)
    largest = std::max(largest, static_cast<uint64_t>(std::max<int64_t>(0, variable.bytes)));
  const size_t regions = first_buffer_region(image) + program.buffers.size() + 1;
  return AddressMap(static_cast<uint32_t>(regions), largest, places, close);
}

}  // namespace

uint64_t physical_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t needed_bytes(const kernel::Program& program) {
  uint64_t total = 0;
  for (const kernel::Buffer& buffer : program.buffers) {
    const auto bytes = static_cast<uint64_t>(std::max<int64_t>(0, buffer.bytes));
    const uint64_t stamps = bytes / static_cast<uint64_t>(tensor::dtype_size(buffer.dtype)) * 8;
    const uint64_t need = buffer.role == Role::Input ? bytes : bytes + stamps;
    if (__builtin_add_overflow(total, need, &total)) return ~uint64_t{0};
  }
  return total;
}

ProgramMemory::ProgramMemory(const Image& image, const kernel::Program& program, int misalign_bytes,
                             uint64_t places, bool close)
    : image_(image),
      program_(program),
      misalign_bytes_(misalign_bytes),
      places_(places),
      regions_(map_of(image, program, places, close)),
      first_(first_buffer_region(image)) {}

Status ProgramMemory::fill(const ports::InputViews& inputs) {
  if (inputs.size() != program_.buffers.size())
    return input_error("{} inputs for {} buffers", inputs.size(), program_.buffers.size());
  add_variables(image_, regions_);
  for (uint32_t r = 0; r < regions_.count(); ++r) {
    const MemoryRegion& region = regions_.row(r);
    variables_.emplace_back(region.data, region.data + region.size);
  }
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = program_.buffers[i];
    regions_.skip_to(first_ + static_cast<uint32_t>(i));
    if (!buffer.present) {
      regions_.skip_to(first_ + static_cast<uint32_t>(i) + 1);
      continue;
    }
    if (const std::string problem = layout_problem(buffer); !problem.empty())
      return input_error("buffer '{}': {}", buffer.name, problem);
    RegionInfo info;
    info.name = buffer.name;
    info.buffer = static_cast<int>(i);
    info.element_bytes = tensor::dtype_size(buffer.dtype);
    info.elements = buffer.bytes / info.element_bytes;
    info.shift = shift_of(i);
    const bool given = buffer.role == Role::Input || buffer.role == Role::Inout;
    const bool in_place = buffer.role == Role::Input && is_dense(buffer) &&
                          !inputs[i].data.empty() &&
                          inputs[i].data.size() == static_cast<size_t>(buffer.bytes);
    if (in_place) {
      regions_.add_view(std::move(info), inputs[i].data.data(),
                        static_cast<uint64_t>(buffer.bytes));
      continue;
    }
    if (buffer.role == Role::Output && is_dense(buffer)) {
      std::byte* bytes = make_result(i, static_cast<size_t>(buffer.bytes));
      regions_.add_borrowed(std::move(info), bytes, static_cast<uint64_t>(buffer.bytes));
      region_of_buffer(i).is_result = true;
    } else {
      regions_.add(std::move(info), static_cast<uint64_t>(buffer.bytes));
    }
    MemoryRegion& region = region_of_buffer(i);
    region.writable = region.tracked = buffer.role != Role::Input;
    region.defined = given || (buffer.role == Role::Scratch && buffer.fill != Fill::Poison);
    region.reports_undefined = buffer.role == Role::Output || buffer.role == Role::Inout;
    if (given && !is_dense(buffer)) std::memset(region.data, kPoison, region.size);
    if (given && !spread(buffer, inputs[i], region.data)) {
      return input_error("input '{}' has {} bytes, which does not fit its shape", buffer.name,
                         inputs[i].data.size());
    }
    if (given && !is_dense(buffer)) define_elements(buffer, region);
  }
  workspace_ = regions_.count();
  RegionInfo info;
  info.name = "the grid barrier";
  info.element_bytes = 4;
  info.elements = kWorkspaceBytes / 4;
  regions_.add(std::move(info), kWorkspaceBytes);
  regions_.row(workspace_).writable = regions_.row(workspace_).tracked = true;
  return Done{};
}

// The gaps between the elements of a strided buffer are not part of it: what is read there is
// undefined.
void ProgramMemory::define_elements(const kernel::Buffer& buffer, MemoryRegion& region) {
  constexpr uint64_t kGiven = global_stamp::make(0, 0, 1, 0);  // before the first launch
  const auto size = static_cast<uint64_t>(tensor::dtype_size(buffer.dtype));
  regions_.refine(region, std::countr_zero(size));
  regions_.ensure_writes(region);
  region.tracked = true;
  region.defined = false;
  for_each_element(buffer, [&](int64_t, int64_t at) {
    const uint64_t begin = static_cast<uint64_t>(at) * size;
    for (uint64_t u = begin >> region.unit_log2; u <= (begin + size - 1) >> region.unit_log2; ++u)
      region.writes[u] = kGiven;
  });
}

// Returns the least aligned address that the buffer's declaration and misalign_bytes allow. With
// `places` it is a random place in the slot, at multiples of 512 bytes as a device's allocator
// gives.
uint64_t ProgramMemory::shift_of(size_t buffer) const {
  constexpr uint64_t kStep = 512;
  const uint64_t places = regions_.map().slot_bytes() / 4 / kStep;
  const uint64_t align =
      static_cast<uint64_t>(std::max<int64_t>(1, program_.buffers[buffer].align));
  const uint64_t from_aligned =
      (static_cast<uint64_t>(std::max(0, misalign_bytes_)) + align - 1) / align * align;
  const uint64_t place = (places_ * (2 * buffer + 1) * 0x9e3779b97f4a7c15u) >> 32;
  return from_aligned + (places_ == 0 || align > kStep ? 0 : place % places * kStep);
}

// An output is computed in the result itself: a copy would cost as much as a light kernel.
std::byte* ProgramMemory::make_result(size_t i, size_t bytes) {
  constexpr size_t kSlack = 64;  // bytes that vector loads may read beyond the end
  results_.resize(program_.buffers.size());
  tensor::Bytes& data = results_[i];
  data.resize(bytes + kSlack);
  return data.data();
}

uint64_t ProgramMemory::buffer_address(int buffer) const {
  return program_.buffers[static_cast<size_t>(buffer)].present
             ? regions_.row(first_ + static_cast<uint32_t>(buffer)).base
             : 0;
}

uint64_t ProgramMemory::reset_workspace() {
  std::memset(regions_.row(workspace_).data, 0, kWorkspaceBytes);
  return regions_.map().region_address(workspace_);
}

void ProgramMemory::judge(const std::vector<LaunchSegments>& launches, FindingLog& log) {
  if (launches.empty()) return;
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = program_.buffers[i];
    if (!buffer.present) continue;
    if (buffer.role == Role::Output) judge_output(i, launches.back(), log);
    if (!is_dense(buffer)) judge_gaps(i, launches, log);
    if (buffer.role == Role::Scratch && buffer.fill == Fill::ZeroKept)
      judge_scratch(i, launches.back(), log);
  }
  for (uint32_t r = kFirstRegion; r < first_; ++r) judge_variable(r, launches, log);
}

void ProgramMemory::judge_output(size_t i, const LaunchSegments& last, FindingLog& log) {
  const kernel::Buffer& buffer = program_.buffers[i];
  const MemoryRegion& region = region_of_buffer(i);
  const uint64_t size = static_cast<uint64_t>(tensor::dtype_size(buffer.dtype));
  if (all_written(region)) return;
  int64_t missing = 0, first = -1, total = 0;
  for_each_element(buffer, [&](int64_t logical, int64_t at) {
    ++total;
    bool written = region.writes != nullptr;
    const uint64_t begin = static_cast<uint64_t>(at) * size, end = begin + size;
    for (uint64_t u = begin >> region.unit_log2; written && u <= (end - 1) >> region.unit_log2; ++u)
      written = region.writes[u] != 0;
    if (written) return;
    if (missing++ == 0) first = logical;
  });
  if (missing == 0 || !log.should_add(record::FindingKind::OutputNotWritten,
                                      record::Certainty::Certain, static_cast<int>(i), ~0u))
    return;
  record::Finding finding =
      finding_after(record::FindingKind::OutputNotWritten, last, program_, buffer.name, first);
  finding.message =
      fmt::format("{} of the {} elements of output {} are never written, the first is {}[{}]",
                  missing, total, buffer.name, buffer.name, first);
  finding.count = missing;
  log.add(std::move(finding), ~0u - static_cast<uint32_t>(i));
}

void ProgramMemory::judge_scratch(size_t i, const LaunchSegments& last, FindingLog& log) {
  const kernel::Buffer& buffer = program_.buffers[i];
  const MemoryRegion& region = region_of_buffer(i);
  const auto dirty = [](std::byte b) { return b != std::byte{0}; };
  const std::byte* end = region.data + region.size;
  const std::byte* first = std::find_if(static_cast<const std::byte*>(region.data), end, dirty);
  if (first == end) return;
  const int64_t element = (first - region.data) / tensor::dtype_size(buffer.dtype);
  record::Finding finding =
      finding_after(record::FindingKind::ScratchNotRestored, last, program_, buffer.name, element);
  finding.message =
      fmt::format("scratch {} is declared '= 0 kept' but {}[{}] is not zero after the call",
                  buffer.name, buffer.name, element);
  log.add(std::move(finding), ~0u - static_cast<uint32_t>(i));
}

namespace {

// Names the launch, the thread's line and the kernel of the store that left this stamp.
record::Finding finding_of(record::FindingKind kind, uint64_t stamp,
                           const std::vector<LaunchSegments>& launches) {
  const LaunchSegments* by = &launches.front();
  for (const LaunchSegments& launch : launches) {
    if (launch.first <= global_stamp::segment(stamp)) by = &launch;
  }
  record::Finding finding;
  finding.kind = kind;
  finding.kernel = by->launch->kernel;
  finding.launch = static_cast<int>(by - launches.data());
  const uint32_t pc = global_stamp::pc(stamp);
  const SourcePlace& place = by->code->places[std::min<size_t>(pc, by->code->places.size() - 1)];
  finding.at = {by->code->files[static_cast<size_t>(place.file)], place.line, place.ptx_line};
  return finding;
}

}  // namespace

void ProgramMemory::judge_variable(uint32_t number, const std::vector<LaunchSegments>& launches,
                                   FindingLog& log) {
  const MemoryRegion& region = regions_.row(number);
  if (region.data == nullptr || region.constant || region.writes == nullptr) return;
  const std::vector<std::byte>& before = variables_[number];
  const auto changed = std::mismatch(before.begin(), before.end(), region.data);
  if (changed.first == before.end()) return;
  const uint64_t offset = static_cast<uint64_t>(changed.first - before.begin());
  const uint64_t stamp = region.writes[offset >> region.unit_log2];
  const RegionInfo& info = regions_.info(number);
  record::Finding finding = finding_of(record::FindingKind::StateAcrossCalls, stamp, launches);
  finding.buffer = info.name;
  finding.element = static_cast<int64_t>(offset) / info.element_bytes;
  finding.message = fmt::format(
      "changes the module variable {}, which would carry state into the next call", info.name);
  log.add(std::move(finding), global_stamp::pc(stamp));
}

// A store into a gap changes what belongs to another tensor.
void ProgramMemory::judge_gaps(size_t i, const std::vector<LaunchSegments>& launches,
                               FindingLog& log) {
  const kernel::Buffer& buffer = program_.buffers[i];
  const MemoryRegion& region = region_of_buffer(i);
  if (region.writes == nullptr || !region.writable) return;
  const auto size = static_cast<uint64_t>(tensor::dtype_size(buffer.dtype));
  std::vector<bool> inside(unit_count(region), false);
  for_each_element(buffer, [&](int64_t, int64_t at) {
    const uint64_t begin = static_cast<uint64_t>(at) * size;
    for (uint64_t u = begin >> region.unit_log2; u <= (begin + size - 1) >> region.unit_log2; ++u)
      inside[u] = true;
  });
  for (uint64_t u = 0; u < inside.size(); ++u) {
    const uint64_t stamp = region.writes[u];
    if (inside[u] || global_stamp::segment(stamp) == 0) continue;
    record::Finding finding = finding_of(record::FindingKind::OutOfBoundsGlobal, stamp, launches);
    finding.buffer = buffer.name;
    finding.element = static_cast<int64_t>((u << region.unit_log2) / size);
    finding.message =
        fmt::format("writes {}[{}] of its storage, which lies in a gap between its rows",
                    buffer.name, finding.element);
    if (log.should_add(finding.kind, finding.certainty, finding.launch, global_stamp::pc(stamp)))
      log.add(std::move(finding), global_stamp::pc(stamp));
  }
}

// Elements that were never written get a poison value, as they do on a real device.
void ProgramMemory::poison_unwritten(size_t i) {
  MemoryRegion& region = region_of_buffer(i);
  if (region.defined || all_written(region)) return;
  for (uint64_t u = 0; u < unit_count(region); ++u) {
    if (region.writes != nullptr && region.writes[u] != 0) continue;
    const uint64_t begin = u << region.unit_log2;
    std::memset(region.data + begin, kPoison,
                std::min(region.size - begin, uint64_t{1} << region.unit_log2));
  }
}

std::vector<tensor::HostTensor> ProgramMemory::collect_outputs(bool stamped) {
  std::vector<tensor::HostTensor> result(program_.buffers.size());
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = program_.buffers[i];
    const bool wanted = buffer.role == Role::Output || buffer.role == Role::Inout;
    if (!wanted || !buffer.present) continue;
    if (stamped) poison_unwritten(i);
    if (i < results_.size() && !results_[i].empty()) {
      results_[i].resize(static_cast<size_t>(logical_bytes(buffer)));
      result[i] = {buffer.dtype, buffer.shape, std::move(results_[i])};
    } else {
      result[i] = collect(buffer, region_of_buffer(i).data);
    }
  }
  return result;
}

}  // namespace kw::vgpu
