#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

constexpr int64_t kMaxWindowBytes = int64_t{1} << 26;  // shared or local memory of one entry
constexpr int64_t kMaxFrameBytes = 1 << 16;            // one argument of a call

uint32_t align_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

uint32_t alignment(const ptx::Variable& variable) {
  const int align = std::clamp(variable.align, 1, 1024);
  return static_cast<uint32_t>(std::max(align, 16));
}

uint8_t element_bytes(const ptx::Variable& variable) {
  return static_cast<uint8_t>(std::max(1, ptx::type_size(variable.type)));
}

}  // namespace

// The source name: a mangled name ends with the length and the identifier. In a namespace an E
// follows; a number follows if a function has several variables of that name.
std::string source_name(const std::string& name) {
  if (name.starts_with("__local_depot")) return "local memory";
  if (!name.starts_with("_Z")) return name;
  size_t end = name.size();
  if (name.starts_with("_ZN") && name.back() == 'E') --end;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (size_t start = 2; start < end; ++start) {
      const std::string length = std::to_string(end - start);
      if (start > length.size() && name.compare(start - length.size(), length.size(), length) == 0)
        return name.substr(start, end - start);
    }
    end = name.find_last_not_of("_0123456789", end - 1) + 1;
  }
  return name;
}

void Decoder::lay_out_params() {
  const ptx::Function& entry = module_.functions[entry_];
  uint32_t at = 0;
  for (const ptx::Variable& param : entry.params) {
    if (param.bytes > kMaxFrameBytes) {
      refuse(fmt::format("parameter '{}' is too large", param.name));
      return;
    }
    const uint32_t natural = static_cast<uint32_t>(std::max(1, ptx::type_size(param.type)));
    at = align_up(at, std::max(natural, static_cast<uint32_t>(std::clamp(param.align, 1, 256))));
    code_.params.push_back({param.name, at, static_cast<uint32_t>(param.bytes)});
    at += static_cast<uint32_t>(param.bytes);
  }
  code_.param_bytes = at;
  // The address of a row decides where wgmma finds it, so shared memory begins at a multiple of
  // 1024 bytes.
  const bool by_address = std::ranges::any_of(
      entry.instructions, [](const ptx::Instruction& one) { return one.opcode == "wgmma"; });
  code_.shared_static_end = by_address ? 1024 : kWindowStart;
  code_.local_bytes = kWindowStart;
}

// A guard zone follows every variable, so that an index past its end does not reach a neighbour.
uint32_t Decoder::add_shared(const ptx::Variable& variable) {
  if (variable.is_extern || variable.bytes == 0)
    return 0;  // replaced by the start of the dynamic part
  const uint32_t at = align_up(code_.shared_static_end, std::max(kRedZone, alignment(variable)));
  if (variable.bytes > kMaxWindowBytes || at > kMaxWindowBytes) {
    refuse(fmt::format("shared variable '{}' is too large", variable.name));
    return kWindowStart;
  }
  const uint32_t bytes = static_cast<uint32_t>(variable.bytes);
  code_.shared.push_back({source_name(variable.name), at, bytes, element_bytes(variable)});
  code_.shared_static_bytes = align_up(code_.shared_static_bytes,
                                       static_cast<uint32_t>(std::clamp(variable.align, 1, 1024))) +
                              bytes;
  code_.shared_static_end = align_up(at + bytes, kRedZone) + kRedZone;
  return at;
}

uint32_t Decoder::add_local(const ptx::Variable& variable) {
  const uint32_t at = align_up(code_.local_bytes, std::max(32u, alignment(variable)));
  if (variable.bytes > kMaxWindowBytes || at > kMaxWindowBytes) {
    refuse(fmt::format("local variable '{}' is too large", variable.name));
    return kWindowStart;
  }
  const uint32_t bytes = static_cast<uint32_t>(variable.bytes);
  code_.local.push_back({source_name(variable.name), at, bytes, element_bytes(variable)});
  code_.local_bytes = align_up(at + bytes, 32) + 32;
  return at;
}

// The bytes of a .param variable, lane after lane.
uint32_t Decoder::frame(uint32_t bytes_per_lane) {
  const uint32_t at = next_;
  if (bytes_per_lane > kMaxFrameBytes) {
    refuse("an argument or result of a call is too large");
    return at;
  }
  next_ = align_up(next_ + kLanes * std::max(bytes_per_lane, 1u), 64);
  return at;
}

// Finds the file of the kernel itself: that of its first line that was not inlined from another
// file.
void Decoder::choose_user_file() {
  for (const ptx::Instruction& instruction : module_.functions[entry_].instructions) {
    if (instruction.line <= 0) continue;
    int file = instruction.file;
    const auto& frames = module_.functions[entry_].inline_frames;
    for (int f = instruction.inlined_at; f >= 0; f = frames[f].inlined_at) file = frames[f].file;
    user_file_ = file;
    return;
  }
}

// Returns the innermost position in the user's own file. Compiler-made instructions take the line
// of the instruction before them.
SourcePlace Decoder::place_of(const ptx::Function& f, const ptx::Instruction& instruction) {
  SourcePlace place{instruction.file, instruction.line, instruction.ptx_line};
  if (instruction.line <= 0) {
    place.file = place_.file;
    place.line = place_.line;
    return place;
  }
  if (instruction.file == user_file_) return place;
  for (int frame = instruction.inlined_at; frame >= 0; frame = f.inline_frames[frame].inlined_at) {
    place.file = f.inline_frames[frame].file;
    place.line = f.inline_frames[frame].line;
    if (place.file == user_file_) break;
  }
  return place;
}

}  // namespace kw::vgpu
