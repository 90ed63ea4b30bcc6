// Decodes one PTX entry to flat instructions. The warp loop runs each instruction millions of
// times, so everything is decided here once: slots instead of names, function pointers instead of
// opcodes, pcs instead of labels. Every operand is checked, because the PTX text may be hostile and
// the loop checks no offsets. Functions are not inlined but each gets fixed slots, so calls need no
// stack. The steps are: collect functions, shape instructions, lay out registers, emit, link. The
// cost is that each kernel has its own copy of the functions it calls.
#include "vgpu/decode.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <fmt/core.h>

#include "vgpu/decoder.h"
#include "vgpu/registers.h"
#include "vgpu/undefined_flow.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxProblems = 100;
constexpr uint32_t kMaxFileBytes = 64u << 20;  // register file of one warp
constexpr size_t kMaxInstructions = 0x3fffff;  // what a stamp can hold

std::string full_name(const ptx::Instruction& instruction) {
  std::string name = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) name += "." + modifier;
  return name;
}

int flattened(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::Vector ? static_cast<int>(operand.elements.size()) : 1;
}

/// What is known about an instruction before its operands have slots.
struct Shape {
  int destinations = 0;  // leading operands that it writes
  std::optional<isa::Alu> alu;
  const DecodeRow* row = nullptr;  // of an instruction that is not an ALU one
  bool refused = false;            // the problem is in the list already
};

const DecodeRow* find_decoder(const std::string& opcode) {
  static const auto kRows = [] {
    std::unordered_map<std::string_view, const DecodeRow*> rows;
    for (const auto& list :
         {memory_decoders(), control_decoders(), collective_decoders(), tensor_decoders()})
      for (const DecodeRow& row : list) rows[row.opcode] = &row;
    return rows;
  }();
  const auto found = kRows.find(opcode);
  return found == kRows.end() ? nullptr : found->second;
}

Shape shape_alu(Decoder& d, const ptx::Instruction& instruction) {
  Shape shape;
  Result<isa::Alu> alu = isa::find_alu(instruction, d.function());
  if (!alu) {
    shape.refused = !d.refuse(alu.error().message);
    return shape;
  }
  shape.alu = std::move(alu).value();
  int covered = 0;
  while (covered < shape.alu->dsts &&
         shape.destinations < static_cast<int>(instruction.operands.size()))
    covered += flattened(instruction.operands[shape.destinations++]);
  return shape;
}

std::vector<Shape> shapes_of(Decoder& d, int index) {
  d.current = index;
  std::vector<Shape> shapes;
  shapes.reserve(d.function().instructions.size());
  for (const ptx::Instruction& instruction : d.function().instructions) {
    d.place = place_of(d, d.function(), instruction);
    if (isa::is_alu(instruction)) {
      shapes.push_back(shape_alu(d, instruction));
      continue;
    }
    Shape& shape = shapes.emplace_back();
    shape.row = find_decoder(instruction.opcode);
    if (shape.row != nullptr && shape.row->destinations != nullptr)
      shape.destinations = std::max(0, shape.row->destinations(instruction));
  }
  return shapes;
}

// An upper limit, checked before registers share slots: offsets must not overflow.
uint64_t most_bytes(const Decoder& d) {
  const ptx::Function& f = d.function();
  uint64_t most = d.next + uint64_t{f.registers.size()} * slot_bytes(16);
  for (const auto* list : {&f.variables, &f.params, &f.returns}) {
    for (const ptx::Variable& variable : *list) {
      if (variable.space == ptx::Space::Param)
        most += slot_bytes(1) * (static_cast<uint64_t>(variable.bytes) + 2);
    }
  }
  return most;
}

bool lay_out(Decoder& d, int index, const std::vector<Shape>& shapes) {
  constexpr const char* kTooLarge =
      "the kernel needs more register space than the virtual GPU gives one warp";
  d.current = index;
  const ptx::Function& f = d.function();
  if (most_bytes(d) > (uint64_t{1} << 31)) return d.refuse(kTooLarge);
  FunctionLayout& own = d.layout();
  for (const ptx::Variable& variable : f.variables)
    own.variables.push_back(lay_out_variable(d, variable));
  if (!f.is_entry) {
    for (const ptx::Variable& p : f.params) own.params.push_back(add_frame(d, p));
    for (const ptx::Variable& r : f.returns) own.returns.push_back(add_frame(d, r));
    own.return_slot = d.new_slot(4);
  }
  std::vector<RegisterUse> uses;
  for (const Shape& shape : shapes)
    uses.push_back({shape.destinations, shape.alu && shape.alu->reads_carry,
                    shape.alu && shape.alu->writes_carry, shape.alu.has_value()});
  const RegisterPlan plan = plan_registers(f, uses, d.next);
  own.registers = plan.offsets;
  d.next = plan.end;
  if (own.recursive) lay_out_saved(d);
  own.undefined = plan.undefined;
  if (plan.carry_undefined) own.undefined.push_back({d.carry_slot(), 0});
  own.first_undefined = plan.first_undefined;
  if (!own.undefined.empty()) own.defined = defined_instructions(f, uses, plan);
  return d.next <= kMaxFileBytes || d.refuse(kTooLarge);
}

// Its source position is that of the first instruction that reads one of the registers.
void emit_undefine(Decoder& d) {
  const ptx::Instruction& reader = d.function().instructions[d.layout().first_undefined];
  const SourcePlace before = d.place;
  d.instruction = &reader;
  d.place = place_of(d, d.function(), reader);
  d.emit_row(Op::Undefine, d.code.undefined, std::move(d.layout().undefined));
  d.place = before;
}

// Special registers that change while a warp runs are read where they are used.
void emit_clock(Decoder& d, ptx::Special special, uint32_t slot, int width) {
  if (special < ptx::Special::Clock || special > ptx::Special::GlobalTimerHi) return;
  Inst& clock = d.emit(Op::ReadClock);
  clock.args.dst[0] = slot;
  clock.sub = static_cast<uint8_t>(special);
  clock.flags = static_cast<uint16_t>(width);
}

bool may_divide_by_zero(const ptx::Instruction& in) {
  if ((in.opcode != "div" && in.opcode != "rem") || in.operands.size() != 3 || in.types.empty())
    return false;
  using ptx::Type;
  const bool integer = in.types[0] >= Type::U8 && in.types[0] <= Type::S64;
  const ptx::Operand& divisor = in.operands[2];
  return integer && (divisor.kind != ptx::Operand::Kind::Immediate || divisor.bits == 0);
}

bool emit_alu(Decoder& d, const ptx::Instruction& instruction, const isa::Alu& alu) {
  std::vector<const ptx::Operand*> flat;
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind != ptx::Operand::Kind::Vector) flat.push_back(&operand);
    for (const ptx::Operand& element : operand.elements) flat.push_back(&element);
  }
  const size_t folded = alu.folded < 0 ? flat.size() : alu.dsts + size_t(alu.folded);
  if (folded < flat.size()) flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(folded));
  if (flat.size() != size_t{alu.dsts} + alu.srcs || alu.dsts > 4 || alu.srcs > 4)
    return d.refuse(fmt::format("{}: wrong number of operands", full_name(instruction)));
  isa::AluArgs args;
  for (int i = 0; i < alu.dsts; ++i) {
    const auto slot = d.destination(*flat[i], alu.dst[i].width);
    if (!slot)
      return d.refuse(fmt::format("{}: destination of the wrong size", full_name(instruction)));
    args.dst[i] = *slot;
  }
  for (int i = 0; i < alu.srcs; ++i) {
    const ptx::Operand& operand = *flat[alu.dsts + i];
    const auto slot = d.source(operand, alu.src[i].width, alu.src[i].type);
    if (!slot)
      return d.refuse(
          fmt::format("{}: operand {} does not fit", full_name(instruction), alu.dsts + i + 1));
    args.src[i] = *slot;
    if (operand.negated) args.negate |= 1u << i;
    if (operand.kind == ptx::Operand::Kind::Special)
      emit_clock(d, operand.special, *slot, alu.src[i].width);
  }
  args.aux = alu.aux;
  args.carry = d.carry_slot();
  Inst& inst = d.emit(may_divide_by_zero(instruction) ? Op::Divide : Op::Alu);
  inst.fn = alu.fn;
  inst.args = args;
  inst.target = static_cast<uint32_t>(d.code.alus.size());
  d.code.alus.push_back(alu);
  return true;
}

bool follows_undefined_bits(Op op) {
  return op <= Op::LoadParam || op == Op::Shuffle;
}

void emit_instruction(Decoder& d, const ptx::Instruction& instruction, const Shape& shape) {
  d.instruction = &instruction;
  d.place = place_of(d, d.function(), instruction);
  if (shape.refused) return;
  const size_t begin = d.code.insts.size();
  if (shape.alu) {
    if (!emit_alu(d, instruction, *shape.alu)) return;
  } else {
    const size_t problems = d.result.problems.size();
    if (shape.row == nullptr || !shape.row->decode(d, instruction)) {
      if (d.result.problems.size() == problems)
        d.refuse(fmt::format("unsupported instruction {}", full_name(instruction)));
      return;
    }
  }
  const bool guarded = instruction.guard >= 0 && !d.unguarded;
  d.unguarded = false;
  if (!guarded) return;
  for (size_t i = begin; i < d.code.insts.size(); ++i) {
    d.code.insts[i].guard = d.layout().registers[instruction.guard];
    d.code.insts[i].guard_flip = instruction.guard_negated ? ~0u : 0;
  }
}

void emit_function(Decoder& d, int index, const std::vector<Shape>& shapes) {
  d.current = index;
  const ptx::Function& f = d.function();
  FunctionLayout& own = d.layout();
  std::vector<Inst>& insts = d.code.insts;
  own.pc = static_cast<uint32_t>(insts.size());
  std::vector<std::vector<int>> labels_at(f.instructions.size() + 1);
  for (size_t l = 0; l < f.labels.size(); ++l)
    labels_at[f.labels[l].instruction].push_back(static_cast<int>(l));
  own.label_pcs.assign(f.labels.size(), 0);
  if (own.stack_bytes > 0) d.emit(Op::EnterFrame).target = static_cast<uint32_t>(own.frame);
  if (!own.undefined.empty()) emit_undefine(d);
  d.branch_fixups.clear();
  std::vector<int> destinations;
  for (const Shape& shape : shapes) destinations.push_back(shape.destinations);
  d.cas = CasAddresses(f, destinations);
  for (size_t i = 0; i <= f.instructions.size(); ++i) {
    for (const int l : labels_at[i]) own.label_pcs[l] = static_cast<uint32_t>(insts.size());
    if (i == f.instructions.size()) break;
    if (d.next > kMaxFileBytes || insts.size() >= kMaxInstructions) {
      d.refuse("the kernel is larger than the virtual GPU can hold");
      break;
    }
    const size_t begin = insts.size();
    emit_instruction(d, f.instructions[i], shapes[i]);
    for (size_t at = begin; i < own.defined.size() && own.defined[i] && at < insts.size(); ++at)
      insts[at].flags |= follows_undefined_bits(insts[at].op) ? kFlagDefined : 0;
  }
  d.instruction = nullptr;
  Inst& end = d.emit(f.is_entry ? Op::Exit : Op::Return);  // falling off the end returns
  if (!f.is_entry) {
    end.args.src[0] = own.return_slot;
    end.args.aux = own.stack_bytes;
  }
  for (const auto& [inst, label] : d.branch_fixups) insts[inst].target = own.label_pcs[label];
  for (size_t i = own.pc; i < insts.size(); ++i) {
    if (insts[i].op != Op::BranchIndexed) continue;
    for (uint32_t& target : d.code.branch_tables[insts[i].target]) target = own.label_pcs[target];
  }
}

void fill_constants(Decoder& d) {
  Code& code = d.code;
  code.file_bytes = (d.next + 63) & ~63u;
  code.initial.resize(code.file_bytes);
  const uint32_t all = ~0u;
  std::memcpy(code.initial.data(), &all, 4);
  for (const auto& [key, offset] : d.constants) {
    const auto& [width, bits] = key;
    if (width == 0) {
      const uint32_t mask = bits != 0 ? ~0u : 0;
      std::memcpy(&code.initial[offset], &mask, 4);
    }
    for (int lane = 0; lane < kLanes && width != 0; ++lane)
      std::memcpy(&code.initial[offset + lane * width], &bits, std::min(width, 8));
  }
}

// Call targets are known only after every function has its pc.
void link(Decoder& d) {
  link_frames(d);
  const auto link_call = [&](CallInst& call) {
    call.pc = d.layouts[call.function].pc;
    call.return_slot = d.layouts[call.function].return_slot;
  };
  for (CallInst& call : d.code.calls) link_call(call);
  for (IndirectCall& call : d.code.indirect_calls) {
    for (IndirectTarget& target : call.targets) link_call(target.call);
  }
  const ptx::Function& entry = d.module.functions[d.entry];
  std::copy(entry.max_threads, entry.max_threads + 3, d.code.max_threads);
  std::copy(entry.required_threads, entry.required_threads + 3, d.code.required_threads);
  d.code.max_registers = entry.max_registers;
  for (const int variable : d.graph.variables_used) {
    const ptx::Space space = d.module.variables[variable].space;
    if (space == ptx::Space::Global || space == ptx::Space::Const)
      d.code.variables_used.push_back(variable);
  }
  fill_constants(d);
}

void decode_all(Decoder& d) {
  const ptx::Function& entry = d.module.functions[d.entry];
  d.code.entry = entry.name;
  d.code.function = d.entry;
  d.code.files = d.module.files;
  d.user_file = user_file_of(entry);
  d.graph = call_graph_of(d.module, d.entry);
  if (d.graph.too_deep) {
    d.refuse("functions call each other too deeply");
    return;
  }
  for (const int f : d.graph.order) {
    d.layouts[f].recursive = d.graph.may_reenter(f, f);
    d.result.visited += d.module.functions[f].instructions.size();
  }
  d.discard = d.next;
  d.next += slot_bytes(16);
  lay_out_params(d);
  for (const int variable : d.graph.variables_used) {
    if (d.module.variables[variable].space == ptx::Space::Shared)
      d.module_shared[variable] = add_shared(d, d.module.variables[variable]);
  }
  std::map<int, std::vector<Shape>> shapes;
  for (const int f : d.graph.order) shapes[f] = shapes_of(d, f);
  for (const int f : d.graph.order) {
    if (!lay_out(d, f, shapes[f])) return;
  }
  for (const int f : d.graph.order) emit_function(d, f, shapes[f]);
  link(d);
}

}  // namespace

Inst& Decoder::emit(Op op) {
  Inst& inst = code.insts.emplace_back();
  inst.op = op;
  code.places.push_back(place);
  code.names.push_back(instruction != nullptr ? full_name(*instruction) : "ret");
  return inst;
}

bool Decoder::refuse(std::string why) {
  if (result.problems.size() < kMaxProblems) {
    const size_t file = static_cast<size_t>(place.file);
    result.problems.push_back(
        {std::move(why), place, file < module.files.size() ? module.files[file] : ""});
  }
  return false;
}

Decoded decode(const ptx::Module& module, int entry) {
  Decoder d(module, entry);
  decode_all(d);
  // A fence orders other threads only through a flag that one of them reads.
  if (d.code.releases && d.code.reads_flags) d.code.orders_parts = true;
  return std::move(d.result);
}

}  // namespace kw::vgpu
