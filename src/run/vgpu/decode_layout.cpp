// Gives places to what an entry keeps in memory: parameters, shared and local variables, the frames
// of calls, the stack of recursive functions. Offsets are fixed here, so that the warp loop only
// adds. Guard bytes separate variables, so that an index past the end of one reaches no other.
// Packing variables tightly would save a little memory and would hide such errors. Source positions
// are chosen here too: a report names a line of the user's own file, not of a header that was
// inlined.
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

uint32_t add_local(Decoder& d, const ptx::Variable& variable) {
  const uint32_t at = align_up(d.code.local_bytes, std::max(32u, alignment(variable)));
  if (variable.bytes > kMaxWindowBytes || at > kMaxWindowBytes) {
    d.refuse(fmt::format("local variable '{}' is too large", variable.name));
    return kWindowStart;
  }
  const uint32_t bytes = static_cast<uint32_t>(variable.bytes);
  d.code.local.push_back({source_name(variable.name), at, bytes, element_bytes(variable)});
  d.code.local_bytes = align_up(at + bytes, 32) + 32;
  return at;
}

// Local variables of a recursive function are on a stack; their addresses are in registers.
uint32_t stack_offset(Decoder& d, const ptx::Variable& variable) {
  constexpr uint32_t kAlign = 16;
  FunctionLayout& own = d.layout();
  const uint32_t at = own.stack_bytes;
  if (variable.bytes > static_cast<int64_t>(kStackBytes)) {
    d.refuse("a local array of a recursive function is larger than its stack");
    return 0;
  }
  own.stack_bytes +=
      (static_cast<uint32_t>(variable.bytes) + kAlign - 1) / kAlign * kAlign + kAlign;
  return at;
}

}  // namespace

// The source name: a mangled name ends with the length and the identifier. In a namespace an E
// follows; a number follows if a function has several variables of that name.
std::string source_name(const std::string& name) {
  if (name.starts_with("__local_depot")) return "local memory";
  if (!name.starts_with("_Z")) return name;
  size_t end = std::min(name.size(), name.find("_$_"));  // what NVRTC adds to static variables
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

void lay_out_params(Decoder& d) {
  const ptx::Function& entry = d.module.functions[d.entry];
  uint32_t at = 0;
  for (const ptx::Variable& param : entry.params) {
    if (param.bytes > kMaxFrameBytes) {
      d.refuse(fmt::format("parameter '{}' is too large", param.name));
      return;
    }
    const uint32_t natural = static_cast<uint32_t>(std::max(1, ptx::type_size(param.type)));
    at = align_up(at, std::max(natural, static_cast<uint32_t>(std::clamp(param.align, 1, 256))));
    d.code.params.push_back({param.name, at, static_cast<uint32_t>(param.bytes)});
    at += static_cast<uint32_t>(param.bytes);
  }
  d.code.param_bytes = at;
  d.code.shared_static_end = kSharedStart;
  d.code.local_bytes = kWindowStart;
}

// A guard zone follows every variable, so that an index past its end does not reach a neighbour.
uint32_t add_shared(Decoder& d, const ptx::Variable& variable) {
  if (variable.is_extern || variable.bytes == 0)
    return 0;  // replaced by the start of the dynamic part
  const uint32_t at = align_up(d.code.shared_static_end, std::max(kRedZone, alignment(variable)));
  if (variable.bytes > kMaxWindowBytes || at > kMaxWindowBytes) {
    d.refuse(fmt::format("shared variable '{}' is too large", variable.name));
    return kSharedStart;
  }
  const uint32_t bytes = static_cast<uint32_t>(variable.bytes);
  d.code.shared.push_back({source_name(variable.name), at, bytes, element_bytes(variable)});
  d.code.shared_static_bytes =
      align_up(d.code.shared_static_bytes,
               static_cast<uint32_t>(std::clamp(variable.align, 1, 1024))) +
      bytes;
  d.code.shared_static_end = align_up(at + bytes, kRedZone) + kRedZone;
  return at;
}

uint32_t add_frame(Decoder& d, const ptx::Variable& variable) {
  const uint32_t at = d.next;
  const auto bytes = static_cast<uint32_t>(variable.bytes);
  if (bytes > kMaxFrameBytes) {
    d.refuse("an argument or result of a call is too large");
    return at;
  }
  d.next = align_up(d.next + kLanes * std::max(bytes, 1u), 64);
  return at;
}

uint32_t lay_out_variable(Decoder& d, const ptx::Variable& variable) {
  if (variable.space == ptx::Space::Shared) return add_shared(d, variable);
  if (variable.space == ptx::Space::Param) return add_frame(d, variable);
  if (variable.space != ptx::Space::Local) return 0;
  return d.layout().recursive ? stack_offset(d, variable) : add_local(d, variable);
}

uint32_t stack_address(Decoder& d, int variable, int64_t offset, int width) {
  FunctionLayout& own = d.layout();
  const auto [row, is_new] = own.stack_slots.try_emplace({variable, offset, width}, 0);
  if (!is_new) return row->second;
  row->second = d.new_slot(width);
  own.saved.push_back({row->second, static_cast<uint32_t>(width)});
  own.stack_addresses.push_back({row->second, static_cast<uint8_t>(width),
                                 static_cast<int64_t>(own.variables[variable]) + offset});
  return row->second;
}

// Lists everything of a recursive function that a second activation would overwrite, except its
// results.
void lay_out_saved(Decoder& d) {
  const ptx::Function& f = d.function();
  FunctionLayout& own = d.layout();
  std::set<std::pair<uint32_t, int>> slots;
  for (size_t r = 0; r < f.registers.size(); ++r)
    slots.insert({own.registers[r], register_width(f.registers[r].type)});
  for (const auto& [offset, width] : slots)
    own.saved.push_back({offset, static_cast<uint32_t>(width)});
  for (size_t v = 0; v < f.variables.size(); ++v) {
    if (f.variables[v].space == ptx::Space::Param)
      own.saved.push_back({own.variables[v], static_cast<uint32_t>(f.variables[v].bytes)});
  }
  for (size_t p = 0; p < f.params.size(); ++p)
    own.saved.push_back({own.params[p], static_cast<uint32_t>(f.params[p].bytes)});
  own.saved.push_back({own.return_slot, 4});
  own.carry_slot = d.new_slot(0);
  own.saved.push_back({own.carry_slot, 0});
  own.frame = static_cast<int>(d.code.frames.size());
  d.code.frames.emplace_back();
}

// Emitting adds slots to save, so frames are complete only now.
void link_frames(Decoder& d) {
  for (auto& [index, own] : d.layouts) {
    if (own.frame < 0) continue;
    ActivationFrame& frame = d.code.frames[own.frame];
    frame.saved = std::move(own.saved);
    frame.addresses = std::move(own.stack_addresses);
    frame.stack_bytes = own.stack_bytes;
    if (own.stack_bytes == 0 || d.code.stack_start != 0) continue;
    d.code.stack_start = d.code.local_bytes;
    d.code.local_bytes += kStackBytes;
    d.code.stack_slot = d.new_slot(4);
    d.code.zeroed.push_back({d.code.stack_slot, slot_bytes(4)});
  }
}

int user_file_of(const ptx::Function& entry) {
  for (const ptx::Instruction& instruction : entry.instructions) {
    if (instruction.line <= 0) continue;
    int file = instruction.file;
    const auto& frames = entry.inline_frames;
    for (int f = instruction.inlined_at; f >= 0; f = frames[f].inlined_at) file = frames[f].file;
    return file;
  }
  return 0;
}

// Returns the innermost position in the user's own file. Compiler-made instructions take the line
// of the instruction before them.
SourcePlace place_of(const Decoder& d, const ptx::Function& f,
                     const ptx::Instruction& instruction) {
  SourcePlace place{instruction.file, instruction.line, instruction.ptx_line};
  if (instruction.line <= 0) {
    place.file = d.place.file;
    place.line = d.place.line;
    return place;
  }
  if (instruction.file == d.user_file) return place;
  for (int frame = instruction.inlined_at; frame >= 0; frame = f.inline_frames[frame].inlined_at) {
    place.file = f.inline_frames[frame].file;
    place.line = f.inline_frames[frame].line;
    if (place.file == d.user_file) break;
  }
  return place;
}

}  // namespace kw::vgpu
