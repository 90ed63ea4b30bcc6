#include "vgpu/report.h"

#include <fmt/core.h>

#include "vgpu/scheduler.h"

namespace kw::vgpu {
namespace {

constexpr uint64_t kRepeatCost = 32;  // instructions that counting a known finding stands for

// Bytes that one lane moves there, or of one element if it moves a vector.
int64_t width_at(const Code& code, uint32_t pc) {
  if (pc >= code.insts.size()) return 1;
  const Inst& inst = code.insts[pc];
  switch (inst.op) {
    case Op::LoadGlobal:
    case Op::StoreGlobal:
    case Op::LoadShared:
    case Op::StoreShared:
    case Op::LoadOther:
    case Op::StoreOther:
      return code.mems[inst.target].width;
    case Op::AsyncCopy:
      return code.async_copies[inst.target].shared.total;
    case Op::Atomic:
      return code.atomics[inst.target].mem.width;
    default:
      return 1;
  }
}

// An object of `size` bytes, declared with elements of `element` bytes, accessed at `bytes` from
// its start.
Subject counted(std::string name, int64_t bytes, int64_t size, int64_t element, int64_t width) {
  if (element == 1 && size % width == 0 && bytes % width == 0) element = width;
  return {std::move(name), bytes >= 0 ? bytes / element : (bytes - element + 1) / element,
          size / element, element == 1};
}

// The last variable that starts at or before `offset`; the first variable if none does.
Subject window_subject(const std::vector<WindowVariable>& variables, int64_t offset,
                       int64_t width) {
  const WindowVariable* found = nullptr;
  for (const WindowVariable& variable : variables) {
    if (found == nullptr || static_cast<int64_t>(variable.offset) <= offset) found = &variable;
  }
  if (found == nullptr) return {};
  return counted(found->name, offset - found->offset, found->bytes, found->element, width);
}

}  // namespace

record::Place place_of(const Code& code, uint32_t pc) {
  if (pc >= code.places.size()) return {};
  const SourcePlace& place = code.places[pc];
  const size_t file = static_cast<size_t>(place.file);
  return {file < code.files.size() ? code.files[file] : "", place.line, place.ptx_line};
}

record::ThreadId thread_id(const LaunchContext& launch, uint64_t block, uint32_t thread) {
  const kernel::Dim3& g = launch.launch->grid;
  const kernel::Dim3& b = launch.launch->block;
  record::ThreadId id;
  id.block = {static_cast<uint32_t>(block % g.x), static_cast<uint32_t>(block / g.x % g.y),
              static_cast<uint32_t>(block / g.x / g.y)};
  id.thread = {thread % b.x, thread / b.x % b.y, thread / b.x / b.y};
  return id;
}

std::string thread_name(const record::ThreadId& id) {
  return fmt::format("block ({},{},{}) thread ({},{},{})", id.block.x, id.block.y, id.block.z,
                     id.thread.x, id.thread.y, id.thread.z);
}

Actor actor(const Machine& m, const Warp& w, int lane, uint32_t pc) {
  return {m.block->linear, w.index * kLanes + static_cast<uint32_t>(lane), pc};
}

void report(Machine& m, record::FindingKind kind, record::Certainty certainty, const Actor& who,
            const Subject& subject, const std::optional<Actor>& other,
            const std::function<std::string()>& message, uint32_t origin_pc) {
  if (!m.log.should_add(kind, certainty, m.launch.launch_index, who.pc)) {
    charge(m, kRepeatCost);
    if (m.log.full()) m.stop = true;
    return;
  }
  record::Finding finding;
  finding.kind = kind;
  finding.certainty = certainty;
  finding.message = message();
  finding.kernel = m.launch.launch->kernel;
  finding.launch = m.launch.launch_index;
  finding.at = place_of(*m.launch.code, who.pc);
  finding.who = thread_id(m.launch, who.block, who.thread);
  finding.buffer = subject.name;
  finding.element = subject.element;
  if (other) {
    finding.other_at = place_of(*m.launch.code, other->pc);
    finding.other = thread_id(m.launch, other->block, other->thread);
  }
  m.log.add(std::move(finding), who.pc, origin_pc);
  if (m.must_be_clean) m.stop = true;
}

void report_fatal(Machine& m, record::FindingKind kind, const Actor& who,
                  const std::optional<Actor>& other, const std::function<std::string()>& message) {
  report(m, kind, record::Certainty::Certain, who, {}, other, message);
  m.stop = true;
}

Subject region_subject(const Machine& m, uint32_t region, int64_t offset, uint32_t pc) {
  const RegionInfo& info = m.memory.info(region);
  const int64_t size = info.element_bytes;
  if (info.variable < 0)
    return {info.name, offset >= 0 ? offset / size : (offset - size + 1) / size, info.elements};
  return counted(info.name, offset, info.elements * size, size, width_at(*m.launch.code, pc));
}

Subject shared_subject(const Machine& m, int64_t offset, uint32_t pc) {
  const Code& code = *m.launch.code;
  const int64_t dynamic = offset - static_cast<int64_t>(code.shared_static_end);
  if (m.launch.dynamic_shared > 0 && dynamic >= 0)
    return counted("dynamic shared memory", dynamic, m.launch.dynamic_shared, 1,
                   width_at(code, pc));
  return window_subject(code.shared, offset, width_at(code, pc));
}

Subject local_subject(const Machine& m, int64_t offset, uint32_t pc) {
  return window_subject(m.launch.code->local, offset, width_at(*m.launch.code, pc));
}

std::string subject_text(const Subject& subject) {
  if (subject.name.empty()) return "memory";
  if (subject.in_bytes) return fmt::format("byte {} of {}", subject.element, subject.name);
  if (subject.name.find(' ') != std::string::npos)
    return fmt::format("element {} of {}", subject.element, subject.name);
  return fmt::format("{}[{}]", subject.name, subject.element);
}

}  // namespace kw::vgpu
