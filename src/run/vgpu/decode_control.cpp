// Decodes branches, calls, fences and barriers. A call copies .param bytes between frames inside
// the register file; the callee's frames have fixed offsets. A call through a pointer lists every
// function that its target could be and compares addresses at run time. A recursive call also saves
// the caller's slots, and its guard must survive that, so a branch around the call replaces the
// guard. Calls to functions without a body are refused, except vprintf and __assertfail.
#include <algorithm>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

bool decode_branch(Decoder& d, const Instruction& in) {
  if (in.operands.empty() || in.operands[0].label < 0) return false;
  d.branch_fixups.push_back({static_cast<uint32_t>(d.code.insts.size()), in.operands[0].label});
  d.emit(Op::Branch);
  return true;
}

bool decode_branch_indexed(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 2 || in.operands[1].label < 0) return false;
  const auto index = d.source(in.operands[0], 4, Type::U32);
  const ptx::Label& list = d.function().labels[in.operands[1].label];
  if (!index || list.branch_targets.empty()) return false;
  Inst& inst = d.emit(Op::BranchIndexed);
  inst.args.src[0] = *index;
  inst.target = static_cast<uint32_t>(d.code.branch_tables.size());
  // These are labels; emit_function replaces them by instruction indices.
  d.code.branch_tables.emplace_back(list.branch_targets.begin(), list.branch_targets.end());
  return true;
}

// Pairs the .param variables of a call with those of the callee.
bool copies(Decoder& d, const std::vector<Operand>& list, const std::vector<ptx::Variable>& formals,
            const std::vector<uint32_t>& frames, bool to_callee, std::vector<FrameCopy>& out) {
  if (list.size() != formals.size()) return d.refuse("call with the wrong number of arguments");
  for (size_t i = 0; i < list.size(); ++i) {
    const ptx::Variable* actual = d.variable_of(list[i]);
    const bool frame_variable =
        actual != nullptr && list[i].local_symbol && actual->space == ptx::Space::Param;
    if (!frame_variable) return d.refuse("call arguments must be .param variables");
    FrameCopy copy;
    copy.from = d.layout().variables[list[i].symbol];
    copy.from_bytes = static_cast<uint32_t>(actual->bytes);
    copy.to = frames[i];
    copy.to_bytes = static_cast<uint32_t>(formals[i].bytes);
    if (!to_callee) {
      std::swap(copy.from, copy.to);
      std::swap(copy.from_bytes, copy.to_bytes);
    }
    out.push_back(copy);
  }
  return true;
}

// The guard of a recursive call is in a register that RestoreFrame restores. So lanes that do not
// call must jump over all of it.
std::optional<size_t> branch_around(Decoder& d, const Instruction& in, int save) {
  if (save < 0 || in.guard < 0) return std::nullopt;
  Inst& skip = d.emit(Op::Branch);
  skip.guard = d.layout().registers[in.guard];
  skip.guard_flip = in.guard_negated ? 0 : ~0u;
  d.unguarded = true;
  return d.code.insts.size() - 1;
}

bool call_builtin(Decoder& d, const Instruction& in, const ptx::Function& callee) {
  const std::vector<Operand>& arguments = in.operands[2].elements;
  std::vector<FrameCopy> frames;  // only `from` is used
  const std::vector<uint32_t> none(callee.params.size(), 0);
  if (callee.name == "vprintf" || callee.name == "__assertfail") {
    if (!copies(d, arguments, callee.params, none, true, frames)) return false;
    const bool print = callee.name == "vprintf";
    if (frames.size() != (print ? 2u : 5u) || frames[0].from_bytes < 8 || frames[1].from_bytes < 8)
      return d.refuse(fmt::format("{} called with unexpected arguments", callee.name));
    Inst& inst = d.emit(print ? Op::Print : Op::AssertFail);
    inst.target = static_cast<uint32_t>(d.code.frame_copies.size());
    d.code.frame_copies.push_back(frames);
    inst.args.dst[0] = d.discard;
    d.code.serial = true;
    const std::vector<Operand>& results = in.operands[0].elements;
    if (print && results.size() == 1 && results[0].local_symbol) {
      const ptx::Variable* result = d.variable_of(results[0]);
      if (result->space == ptx::Space::Param && result->bytes == 4)
        inst.args.dst[0] = d.layout().variables[results[0].symbol];
    }
    return true;
  }
  if (callee.name == "malloc" || callee.name == "free")
    return d.refuse(fmt::format("unsupported: {}() inside a kernel", callee.name));
  return d.refuse(fmt::format("unsupported: call to '{}', which has no body", callee.name));
}

bool call_indirect(Decoder& d, const Instruction& in) {
  const auto address = d.source(in.operands[1], 8, Type::U64);
  if (!address) return false;
  std::vector<int> candidates(d.graph.address_taken.begin(), d.graph.address_taken.end());
  if (in.operands.size() > 3 && in.operands[3].label >= 0) {
    const ptx::Label& label = d.function().labels[in.operands[3].label];
    if (!label.call_targets.empty()) candidates = label.call_targets;
  }
  IndirectCall call;
  call.address = *address;
  call.chosen = d.new_slot(4);
  for (const int index : candidates) {
    const ptx::Function& callee = d.module.functions[index];
    const bool fits = !callee.is_declaration && !callee.is_entry && d.layouts.count(index) != 0 &&
                      callee.params.size() == in.operands[2].elements.size() &&
                      callee.returns.size() == in.operands[0].elements.size();
    if (!fits) continue;
    IndirectTarget target;
    target.call.function = index;
    const FunctionLayout& other = d.layouts.at(index);
    if (!copies(d, in.operands[2].elements, callee.params, other.params, true, target.call.copies))
      return false;
    if (!copies(d, in.operands[0].elements, callee.returns, other.returns, false, target.returns))
      return false;
    call.targets.push_back(std::move(target));
  }
  int save = -1;
  if (d.layout().recursive) {
    save = d.layout().frame;
    d.layout().saved.push_back({call.chosen, 4});
    for (IndirectTarget& target : call.targets) target.call.save = save;
  }
  const std::optional<size_t> around = branch_around(d, in, save);
  const auto index = static_cast<uint32_t>(d.code.indirect_calls.size());
  d.emit(Op::CallIndirect).target = index;
  if (save >= 0) d.emit(Op::RestoreFrame).target = static_cast<uint32_t>(save);
  d.emit(Op::CopyIndirectFrames).target = index;
  d.code.indirect_calls.push_back(std::move(call));
  if (around) d.code.insts[*around].target = static_cast<uint32_t>(d.code.insts.size());
  return true;
}

bool decode_call(Decoder& d, const Instruction& in) {
  if (in.operands.size() < 3) return false;
  if (in.operands[1].function < 0) return call_indirect(d, in);
  const int index = in.operands[1].function;
  const ptx::Function& callee = d.module.functions[index];
  if (callee.is_declaration) return call_builtin(d, in, callee);
  if (callee.is_entry) return d.refuse("a kernel cannot be called as a function");
  CallInst call;
  call.function = index;
  std::vector<FrameCopy> back;
  const FunctionLayout& other = d.layouts.at(index);
  if (!copies(d, in.operands[2].elements, callee.params, other.params, true, call.copies))
    return false;
  if (!copies(d, in.operands[0].elements, callee.returns, other.returns, false, back)) return false;
  if (d.layout().recursive && d.graph.may_reenter(index, d.current)) call.save = d.layout().frame;
  const int save = call.save;
  const std::optional<size_t> around = branch_around(d, in, save);
  d.emit_row(Op::Call, d.code.calls, std::move(call));
  if (save >= 0) d.emit(Op::RestoreFrame).target = static_cast<uint32_t>(save);
  if (!back.empty()) d.emit_row(Op::CopyFrames, d.code.frame_copies, std::move(back));
  if (around) d.code.insts[*around].target = static_cast<uint32_t>(d.code.insts.size());
  return true;
}

bool decode_leave(Decoder& d, const Instruction& in) {
  const bool exits = in.opcode == "exit" || d.function().is_entry;
  Inst& inst = d.emit(exits ? Op::Exit : Op::Return);
  if (!exits) {
    inst.args.src[0] = d.layout().return_slot;
    inst.args.aux = d.layout().stack_bytes;
  }
  return true;
}

bool decode_trap(Decoder& d, const Instruction&) {
  d.emit(Op::Trap);
  return true;
}

bool decode_fence(Decoder& d, const Instruction& in) {
  static constexpr const char* kScopes[] = {"gl", "sys", "gpu", "cta", "cluster"};
  const bool mbarrier = std::ranges::any_of(in.modifiers, [](const std::string& m) {
    return m.starts_with("mbarrier") || m.starts_with("tensormap");
  });
  if (mbarrier) return false;
  bool device_wide = false;
  for (const char* scope : kScopes) device_wide = device_wide || (in.has(scope) && scope[0] != 'c');
  Inst& inst = d.emit(Op::Fence);
  inst.sub = device_wide ? 1 : 0;
  d.code.releases = true;
  if (device_wide) d.code.serial = d.code.has_sync = true;
  return true;
}

bool decode_nanosleep(Decoder& d, const Instruction&) {
  d.emit(Op::Nanosleep);
  return true;
}

bool decode_barrier(Decoder& d, const Instruction& in) {
  if (in.has("warp")) return decode_warp_sync(d, in);
  if (in.has("cluster")) return decode_nothing(d, in);  // a cluster has one block here
  BarrierInst barrier;
  barrier.aligned = in.opcode == "bar" || in.has("aligned");
  std::vector<const Operand*> list;
  for (const Operand& operand : in.operands) list.push_back(&operand);
  if (in.has("arrive")) barrier.kind = BarrierInst::Kind::Arrive;
  if (in.has("red")) {
    const bool popc = in.has("popc");
    barrier.kind = popc            ? BarrierInst::Kind::RedPopc
                   : in.has("and") ? BarrierInst::Kind::RedAnd
                                   : BarrierInst::Kind::RedOr;
    if (list.size() < 3) return false;
    const auto dst = d.destination(*list.front(), popc ? 4 : 0);
    const auto predicate_slot = d.predicate(*list.back(), barrier.negate);
    if (!dst || !predicate_slot) return false;
    barrier.dst = *dst;
    barrier.predicate = *predicate_slot;
    list.erase(list.begin());
    list.pop_back();
  }
  if (list.empty() || list.size() > 2) return false;
  const auto id = d.source(*list[0], 4, Type::U32);
  if (!id) return false;
  barrier.id = *id;
  if (list.size() == 2) {
    const auto count = d.source(*list[1], 4, Type::U32);
    if (!count) return false;
    barrier.count = *count;
    barrier.has_count = true;
    d.code.orders_parts = true;
  }
  barrier.uniform = std::ranges::all_of(
      list, [](const Operand* operand) { return operand->kind == Operand::Kind::Immediate; });
  if (barrier.kind == BarrierInst::Kind::Arrive && !barrier.has_count) return false;
  return d.emit_row(Op::Barrier, d.code.barriers, barrier);
}

int barrier_destinations(const Instruction& in) { return in.has("red") ? 1 : 0; }

constexpr DecodeRow kControlDecoders[] = {
    {"bra", decode_branch},
    {"brx", decode_branch_indexed},
    {"call", decode_call, leading<1>},
    {"ret", decode_leave},
    {"exit", decode_leave},
    {"trap", decode_trap},
    {"brkpt", decode_nothing},
    {"bar", decode_barrier, barrier_destinations},
    {"barrier", decode_barrier, barrier_destinations},
    {"membar", decode_fence},
    {"fence", decode_fence},
    {"nanosleep", decode_nanosleep},
    {"griddepcontrol", decode_nothing},
    {"pmevent", decode_nothing},
    {"setmaxnreg", decode_nothing},
};

}  // namespace

std::span<const DecodeRow> control_decoders() { return kControlDecoders; }

}  // namespace kw::vgpu
