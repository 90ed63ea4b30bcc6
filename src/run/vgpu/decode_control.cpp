// Decodes branches, calls, fences and barriers. A call copies .param bytes between frames inside
// the register file; the callee's frames have fixed offsets. A call through a pointer lists every
// function that its target could be and compares addresses at run time. A recursive call also saves
// the caller's slots, and its guard must survive that, so a branch around the call replaces the
// guard. Calls to functions without a body are refused, except vprintf and __assertfail.
#include <algorithm>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

}  // namespace

bool Decoder::branch(const Instruction& in) {
  if (in.operands.empty() || in.operands[0].label < 0) return false;
  branch_fixups_.push_back({static_cast<uint32_t>(code_.insts.size()), in.operands[0].label});
  emit(Op::Branch);
  return true;
}

bool Decoder::branch_indexed(const Instruction& in) {
  if (in.operands.size() != 2 || in.operands[1].label < 0) return false;
  const auto index = source(in.operands[0], 4, Type::U32);
  const ptx::Label& list = function().labels[in.operands[1].label];
  if (!index || list.branch_targets.empty()) return false;
  Inst& inst = emit(Op::BranchIndexed);
  inst.args.src[0] = *index;
  inst.target = static_cast<uint32_t>(code_.branch_tables.size());
  // These are labels; emit_function replaces them by instruction indices.
  code_.branch_tables.emplace_back(list.branch_targets.begin(), list.branch_targets.end());
  return true;
}

// Pairs the .param variables of a call with those of the callee.
bool Decoder::copies(const std::vector<Operand>& list, const std::vector<ptx::Variable>& formals,
                     const std::vector<uint32_t>& frames, bool to_callee,
                     std::vector<FrameCopy>& out) {
  if (list.size() != formals.size()) return refuse("call with the wrong number of arguments");
  for (size_t i = 0; i < list.size(); ++i) {
    const ptx::Variable* actual = variable_of(list[i]);
    const bool frame_variable =
        actual != nullptr && list[i].local_symbol && actual->space == ptx::Space::Param;
    if (!frame_variable) return refuse("call arguments must be .param variables");
    FrameCopy copy;
    copy.from = layout().variables[list[i].symbol];
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

bool Decoder::call(const Instruction& in) {
  if (in.operands.size() < 3) return false;
  if (in.operands[1].function < 0) return call_indirect(in);
  const int index = in.operands[1].function;
  const ptx::Function& callee = module_.functions[index];
  if (callee.is_declaration) return call_builtin(in, callee);
  if (callee.is_entry) return refuse("a kernel cannot be called as a function");
  CallInst call;
  call.function = index;
  std::vector<FrameCopy> back;
  const FunctionLayout& other = layouts_.at(index);
  if (!copies(in.operands[2].elements, callee.params, other.params, true, call.copies))
    return false;
  if (!copies(in.operands[0].elements, callee.returns, other.returns, false, back)) return false;
  if (layout().recursive && is_recursive_call(index)) call.save = layout().frame;
  const int save = call.save;
  const std::optional<size_t> around = branch_around(in, save);
  emit(Op::Call).target = static_cast<uint32_t>(code_.calls.size());
  code_.calls.push_back(std::move(call));
  if (save >= 0) emit(Op::RestoreFrame).target = static_cast<uint32_t>(save);
  if (!back.empty()) {
    emit(Op::CopyFrames).target = static_cast<uint32_t>(code_.frame_copies.size());
    code_.frame_copies.push_back(std::move(back));
  }
  if (around) code_.insts[*around].target = static_cast<uint32_t>(code_.insts.size());
  return true;
}

// The guard of a recursive call is in a register that RestoreFrame restores. So lanes that do not
// call must jump over all of it.
std::optional<size_t> Decoder::branch_around(const Instruction& in, int save) {
  if (save < 0 || in.guard < 0) return std::nullopt;
  Inst& skip = emit(Op::Branch);
  skip.guard = layout().registers[in.guard];
  skip.guard_flip = in.guard_negated ? 0 : ~0u;
  unguarded_ = true;
  return code_.insts.size() - 1;
}

bool Decoder::call_builtin(const Instruction& in, const ptx::Function& callee) {
  const std::vector<Operand>& arguments = in.operands[2].elements;
  std::vector<FrameCopy> frames;  // only `from` is used
  const std::vector<uint32_t> none(callee.params.size(), 0);
  if (callee.name == "vprintf" || callee.name == "__assertfail") {
    if (!copies(arguments, callee.params, none, true, frames)) return false;
    const bool print = callee.name == "vprintf";
    if (frames.size() != (print ? 2u : 5u) || frames[0].from_bytes < 8 || frames[1].from_bytes < 8)
      return refuse(fmt::format("{} called with unexpected arguments", callee.name));
    Inst& inst = emit(print ? Op::Print : Op::AssertFail);
    inst.target = static_cast<uint32_t>(code_.frame_copies.size());
    code_.frame_copies.push_back(frames);
    inst.args.dst[0] = discard_;
    code_.serial = true;
    const std::vector<Operand>& results = in.operands[0].elements;
    if (print && results.size() == 1 && results[0].local_symbol) {
      const ptx::Variable* result = variable_of(results[0]);
      if (result->space == ptx::Space::Param && result->bytes == 4)
        inst.args.dst[0] = layout().variables[results[0].symbol];
    }
    return true;
  }
  if (callee.name == "malloc" || callee.name == "free")
    return refuse(fmt::format("unsupported: {}() inside a kernel", callee.name));
  return refuse(fmt::format("unsupported: call to '{}', which has no body", callee.name));
}

bool Decoder::call_indirect(const Instruction& in) {
  const auto address = source(in.operands[1], 8, Type::U64);
  if (!address) return false;
  std::vector<int> candidates(address_taken_.begin(), address_taken_.end());
  if (in.operands.size() > 3 && in.operands[3].label >= 0) {
    const ptx::Label& label = function().labels[in.operands[3].label];
    if (!label.call_targets.empty()) candidates = label.call_targets;
  }
  IndirectCall call;
  call.address = *address;
  call.chosen = new_slot(4);
  for (const int index : candidates) {
    const ptx::Function& callee = module_.functions[index];
    const bool fits = !callee.is_declaration && !callee.is_entry && layouts_.count(index) != 0 &&
                      callee.params.size() == in.operands[2].elements.size() &&
                      callee.returns.size() == in.operands[0].elements.size();
    if (!fits) continue;
    IndirectTarget target;
    target.address = function_address(index);
    target.call.function = index;
    const FunctionLayout& other = layouts_.at(index);
    if (!copies(in.operands[2].elements, callee.params, other.params, true, target.call.copies))
      return false;
    if (!copies(in.operands[0].elements, callee.returns, other.returns, false, target.returns))
      return false;
    call.targets.push_back(std::move(target));
  }
  int save = -1;
  if (layout().recursive) {
    save = layout().frame;
    layout().saved.push_back({call.chosen, 4});
    for (IndirectTarget& target : call.targets) target.call.save = save;
  }
  const std::optional<size_t> around = branch_around(in, save);
  const auto index = static_cast<uint32_t>(code_.indirect_calls.size());
  emit(Op::CallIndirect).target = index;
  if (save >= 0) emit(Op::RestoreFrame).target = static_cast<uint32_t>(save);
  emit(Op::CopyIndirectFrames).target = index;
  code_.indirect_calls.push_back(std::move(call));
  if (around) code_.insts[*around].target = static_cast<uint32_t>(code_.insts.size());
  return true;
}

bool Decoder::leave(const Instruction& in) {
  const bool exits = in.opcode == "exit" || function().is_entry;
  Inst& inst = emit(exits ? Op::Exit : Op::Return);
  if (!exits) {
    inst.args.src[0] = layout().return_slot;
    inst.args.aux = layout().stack_bytes;
  }
  return true;
}

bool Decoder::trap(const Instruction&) {
  emit(Op::Trap);
  return true;
}

bool Decoder::fence(const Instruction& in) {
  static constexpr const char* kScopes[] = {"gl", "sys", "gpu", "cta", "cluster"};
  const bool mbarrier =
      std::any_of(in.modifiers.begin(), in.modifiers.end(), [](const std::string& m) {
        return m.rfind("mbarrier", 0) == 0 || m.rfind("tensormap", 0) == 0;
      });
  if (mbarrier) return false;
  bool device_wide = false;
  for (const char* scope : kScopes) device_wide = device_wide || (in.has(scope) && scope[0] != 'c');
  Inst& inst = emit(Op::Fence);
  inst.sub = device_wide ? 1 : 0;
  if (device_wide) code_.serial = code_.has_sync = true;
  return true;
}

bool Decoder::nanosleep(const Instruction&) {
  emit(Op::Nanosleep);
  return true;
}

bool Decoder::barrier(const Instruction& in) {
  if (in.has("warp")) return warp_sync(in);
  if (in.has("cluster")) return no_operation(in);  // a cluster has one block here
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
    const auto dst = destination(*list.front(), popc ? 4 : 0);
    const auto predicate_slot = predicate(*list.back(), barrier.negate);
    if (!dst || !predicate_slot) return false;
    barrier.dst = *dst;
    barrier.predicate = *predicate_slot;
    list.erase(list.begin());
    list.pop_back();
  }
  if (list.empty() || list.size() > 2) return false;
  const auto id = source(*list[0], 4, Type::U32);
  if (!id) return false;
  barrier.id = *id;
  if (list.size() == 2) {
    const auto count = source(*list[1], 4, Type::U32);
    if (!count) return false;
    barrier.count = *count;
    barrier.has_count = true;
  }
  barrier.uniform = std::all_of(list.begin(), list.end(), [](const Operand* operand) {
    return operand->kind == Operand::Kind::Immediate;
  });
  if (barrier.kind == BarrierInst::Kind::Arrive && !barrier.has_count) return false;
  Inst& inst = emit(Op::Barrier);
  inst.target = static_cast<uint32_t>(code_.barriers.size());
  code_.barriers.push_back(barrier);
  return true;
}

}  // namespace kw::vgpu
