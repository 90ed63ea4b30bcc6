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

#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/registers.h"

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

// The number of operands that are written before the sources, for instructions other than ALU ones.
int destinations_of(const ptx::Instruction& in) {
  static const std::unordered_map<std::string, int> kCounts = {
      {"ld", 1},   {"ldu", 1},        {"atom", 1},  {"cvta", 1},       {"isspacep", 1},
      {"vote", 1}, {"activemask", 1}, {"redux", 1}, {"getctarank", 1}, {"mapa", 1}};
  const int operands = static_cast<int>(in.operands.size());
  if (in.opcode == "shfl") return operands - (in.has("sync") ? 4 : 3);
  if (in.opcode == "match") return operands - 2;
  if (in.opcode == "elect") return operands - 1;
  if (in.opcode == "wmma") return in.has("store") ? 0 : 1;
  if (in.opcode == "mma" || in.opcode == "ldmatrix") return 1;
  if (in.opcode == "call") return 1;
  if (in.opcode == "bar" || in.opcode == "barrier") return in.has("red") ? 1 : 0;
  const auto found = kCounts.find(in.opcode);
  return found == kCounts.end() ? 0 : found->second;
}

int flattened(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::Vector ? static_cast<int>(operand.elements.size()) : 1;
}

}  // namespace

uint64_t variable_address(int variable) {
  return region_address(kFirstRegion + static_cast<uint32_t>(variable));
}

uint64_t function_address(int function) {
  return kCodeWindow + 16 * (static_cast<uint64_t>(function) + 1);
}

Decoder::Decoder(const ptx::Module& module, int entry)
    : module_(module), entry_(entry), code_(result_.code) {}

Decoded Decoder::run() {
  const ptx::Function& entry = module_.functions[entry_];
  code_.entry = entry.name;
  code_.function = entry_;
  code_.files = module_.files;
  current_ = entry_;
  choose_user_file();
  if (!collect(entry_, 0)) return std::move(result_);
  find_recursion();
  for (const int f : order_) result_.visited += module_.functions[f].instructions.size();
  next_ = 64;  // offset 0: the mask that is always true
  discard_ = next_;
  next_ += slot_bytes(16);
  lay_out_params();
  for (const int variable : variables_used_) {
    if (module_.variables[variable].space == ptx::Space::Shared)
      module_shared_[variable] = add_shared(module_.variables[variable]);
  }
  for (const int f : order_) shape_instructions(f);
  for (const int f : order_) {
    if (!lay_out(f)) return std::move(result_);
  }
  for (const int f : order_) emit_function(f);
  link();
  return std::move(result_);
}

void Decoder::shape_instructions(int index) {
  current_ = index;
  const ptx::Function& f = function();
  std::vector<Shape>& shapes = shapes_[index];
  shapes.reserve(f.instructions.size());
  for (const ptx::Instruction& instruction : f.instructions) {
    Shape shape;
    place_ = place_of(f, instruction);
    if (isa::is_alu(instruction)) {
      Result<isa::Alu> alu = isa::find_alu(instruction, f);
      if (alu) {
        shape.alu = std::move(alu).value();
        int covered = 0;
        while (covered < shape.alu->dsts &&
               shape.destinations < static_cast<int>(instruction.operands.size()))
          covered += flattened(instruction.operands[shape.destinations++]);
      } else {
        refuse(alu.error().message);
      }
    } else {
      shape.destinations = std::max(0, destinations_of(instruction));
    }
    shapes.push_back(std::move(shape));
  }
}

bool Decoder::lay_out(int index) {
  constexpr const char* kTooLarge =
      "the kernel needs more register space than the virtual GPU gives one warp";
  current_ = index;
  const ptx::Function& f = function();
  // An upper limit, checked before registers share slots: offsets must not overflow.
  uint64_t most = next_ + uint64_t{f.registers.size()} * slot_bytes(16);
  for (const auto* list : {&f.variables, &f.params, &f.returns}) {
    for (const ptx::Variable& variable : *list) {
      if (variable.space == ptx::Space::Param)
        most += slot_bytes(1) * (static_cast<uint64_t>(variable.bytes) + 2);
    }
  }
  if (most > (uint64_t{1} << 31)) return refuse(kTooLarge);
  FunctionLayout& own = layout();
  for (const ptx::Variable& variable : f.variables) {
    uint32_t at = 0;
    if (variable.space == ptx::Space::Shared) at = add_shared(variable);
    if (variable.space == ptx::Space::Local)
      at = own.recursive ? stack_offset(variable) : add_local(variable);
    if (variable.space == ptx::Space::Param) at = frame(static_cast<uint32_t>(variable.bytes));
    own.variables.push_back(at);
  }
  if (!f.is_entry) {
    for (const ptx::Variable& p : f.params)
      own.params.push_back(frame(static_cast<uint32_t>(p.bytes)));
    for (const ptx::Variable& r : f.returns)
      own.returns.push_back(frame(static_cast<uint32_t>(r.bytes)));
    own.return_slot = new_slot(4);
  }
  std::vector<RegisterUse> uses;
  for (const Shape& shape : shapes_[index])
    uses.push_back({shape.destinations, shape.alu && shape.alu->reads_carry,
                    shape.alu && shape.alu->writes_carry});
  const RegisterPlan plan = plan_registers(f, uses, next_);
  own.registers = plan.offsets;
  next_ = plan.end;
  if (own.recursive) lay_out_saved(f);
  own.undefined = plan.undefined;
  if (plan.carry_undefined) own.undefined.push_back({carry_slot(), 0});
  own.first_undefined = plan.first_undefined;
  return next_ <= kMaxFileBytes || refuse(kTooLarge);
}

void Decoder::emit_function(int index) {
  current_ = index;
  const ptx::Function& f = function();
  FunctionLayout& own = layout();
  own.pc = static_cast<uint32_t>(code_.insts.size());
  std::vector<std::vector<int>> labels_at(f.instructions.size() + 1);
  for (size_t l = 0; l < f.labels.size(); ++l)
    labels_at[f.labels[l].instruction].push_back(static_cast<int>(l));
  own.label_pcs.assign(f.labels.size(), 0);
  if (own.stack_bytes > 0) emit(Op::EnterFrame).target = static_cast<uint32_t>(own.frame);
  if (!own.undefined.empty()) emit_undefine();
  branch_fixups_.clear();
  find_cas_addresses();
  for (size_t i = 0; i <= f.instructions.size(); ++i) {
    for (const int l : labels_at[i]) own.label_pcs[l] = static_cast<uint32_t>(code_.insts.size());
    if (i == f.instructions.size()) break;
    if (next_ > kMaxFileBytes || code_.insts.size() >= kMaxInstructions) {
      refuse("the kernel is larger than the virtual GPU can hold");
      break;
    }
    emit_instruction(f.instructions[i], shapes_[index][i]);
  }
  instruction_ = nullptr;
  Inst& end = emit(f.is_entry ? Op::Exit : Op::Return);  // falling off the end returns
  if (!f.is_entry) {
    end.args.src[0] = own.return_slot;
    end.args.aux = own.stack_bytes;
  }
  for (const auto& [inst, label] : branch_fixups_) code_.insts[inst].target = own.label_pcs[label];
  for (size_t i = own.pc; i < code_.insts.size(); ++i) {
    if (code_.insts[i].op != Op::BranchIndexed) continue;
    for (uint32_t& target : code_.branch_tables[code_.insts[i].target])
      target = own.label_pcs[target];
  }
}

// Its source position is that of the first instruction that reads one of the registers.
void Decoder::emit_undefine() {
  const ptx::Instruction& reader = function().instructions[layout().first_undefined];
  const SourcePlace before = place_;
  instruction_ = &reader;
  place_ = place_of(function(), reader);
  emit(Op::Undefine).target = static_cast<uint32_t>(code_.undefined.size());
  place_ = before;
  code_.undefined.push_back(std::move(layout().undefined));
}

void Decoder::emit_instruction(const ptx::Instruction& instruction, const Shape& shape) {
  static const std::unordered_map<std::string, Handler> kHandlers = {
      {"ld", &Decoder::load},
      {"ldu", &Decoder::load},
      {"st", &Decoder::store},
      {"atom", &Decoder::atomic},
      {"red", &Decoder::atomic},
      {"cvta", &Decoder::cvta},
      {"isspacep", &Decoder::is_space},
      {"prefetch", &Decoder::no_operation},
      {"prefetchu", &Decoder::no_operation},
      {"griddepcontrol", &Decoder::no_operation},
      {"discard", &Decoder::no_operation},
      {"applypriority", &Decoder::no_operation},
      {"pmevent", &Decoder::no_operation},
      {"setmaxnreg", &Decoder::no_operation},
      {"bra", &Decoder::branch},
      {"brx", &Decoder::branch_indexed},
      {"call", &Decoder::call},
      {"ret", &Decoder::leave},
      {"exit", &Decoder::leave},
      {"trap", &Decoder::trap},
      {"brkpt", &Decoder::no_operation},
      {"bar", &Decoder::barrier},
      {"barrier", &Decoder::barrier},
      {"membar", &Decoder::fence},
      {"fence", &Decoder::fence},
      {"nanosleep", &Decoder::nanosleep},
      {"shfl", &Decoder::shuffle},
      {"vote", &Decoder::vote},
      {"match", &Decoder::match},
      {"redux", &Decoder::redux},
      {"activemask", &Decoder::active_mask},
      {"elect", &Decoder::elect},
      {"cp", &Decoder::async_copy},
      {"wmma", &Decoder::wmma},
      {"mma", &Decoder::mma},
      {"ldmatrix", &Decoder::matrix_rows},
      {"stmatrix", &Decoder::matrix_rows},
      {"wgmma", &Decoder::group_product},
  };
  instruction_ = &instruction;
  place_ = place_of(function(), instruction);
  const size_t first = code_.insts.size();
  if (isa::is_alu(instruction)) {
    if (!shape.alu || !emit_alu(instruction, *shape.alu)) return;
  } else {
    const auto handler = kHandlers.find(instruction.opcode);
    if (handler == kHandlers.end()) {
      refuse(fmt::format("unsupported instruction {}", full_name(instruction)));
      return;
    }
    const size_t problems = result_.problems.size();
    if (!(this->*handler->second)(instruction)) {
      if (result_.problems.size() == problems)
        refuse(fmt::format("unsupported instruction {}", full_name(instruction)));
      return;
    }
  }
  const bool guarded = instruction.guard >= 0 && !unguarded_;
  unguarded_ = false;
  if (!guarded) return;
  for (size_t i = first; i < code_.insts.size(); ++i) {
    code_.insts[i].guard = layout().registers[instruction.guard];
    code_.insts[i].guard_flip = instruction.guard_negated ? ~0u : 0;
  }
}

bool Decoder::emit_alu(const ptx::Instruction& instruction, const isa::Alu& alu) {
  std::vector<const ptx::Operand*> flat;
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind != ptx::Operand::Kind::Vector) flat.push_back(&operand);
    for (const ptx::Operand& element : operand.elements) flat.push_back(&element);
  }
  const size_t folded = alu.folded < 0 ? flat.size() : alu.dsts + size_t(alu.folded);
  if (folded < flat.size()) flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(folded));
  if (flat.size() != size_t{alu.dsts} + alu.srcs || alu.dsts > 4 || alu.srcs > 4)
    return refuse(fmt::format("{}: wrong number of operands", full_name(instruction)));
  isa::AluArgs args;
  for (int i = 0; i < alu.dsts; ++i) {
    const auto slot = destination(*flat[i], alu.dst[i].width);
    if (!slot)
      return refuse(fmt::format("{}: destination of the wrong size", full_name(instruction)));
    args.dst[i] = *slot;
  }
  for (int i = 0; i < alu.srcs; ++i) {
    const ptx::Operand& operand = *flat[alu.dsts + i];
    const auto slot = source(operand, alu.src[i].width, alu.src[i].type);
    if (!slot)
      return refuse(
          fmt::format("{}: operand {} does not fit", full_name(instruction), alu.dsts + i + 1));
    args.src[i] = *slot;
    if (operand.negated) args.negate |= 1u << i;
    if (operand.kind == ptx::Operand::Kind::Special) {
      const ptx::Special s = operand.special;
      if (s >= ptx::Special::Clock && s <= ptx::Special::GlobalTimerHi) {
        Inst& clock = emit(Op::ReadClock);
        clock.args.dst[0] = *slot;
        clock.sub = static_cast<uint8_t>(s);
        clock.flags = static_cast<uint16_t>(alu.src[i].width);
      }
    }
  }
  args.aux = alu.aux;
  args.carry = carry_slot();
  Inst& inst = emit(Op::Alu);
  inst.fn = alu.fn;
  inst.args = args;
  inst.target = static_cast<uint32_t>(code_.alus.size());
  code_.alus.push_back(alu);
  return true;
}

// Call targets are known only after every function has its pc.
void Decoder::link() {
  link_frames();
  for (CallInst& call : code_.calls) {
    call.pc = layouts_[call.function].pc;
    call.return_slot = layouts_[call.function].return_slot;
  }
  for (IndirectCall& call : code_.indirect_calls) {
    for (IndirectTarget& target : call.targets) {
      target.call.pc = layouts_[target.call.function].pc;
      target.call.return_slot = layouts_[target.call.function].return_slot;
    }
  }
  const ptx::Function& entry = module_.functions[entry_];
  std::copy(entry.max_threads, entry.max_threads + 3, code_.max_threads);
  std::copy(entry.required_threads, entry.required_threads + 3, code_.required_threads);
  code_.max_registers = entry.max_registers;
  for (const int variable : variables_used_) {
    const ptx::Space space = module_.variables[variable].space;
    if (space == ptx::Space::Global || space == ptx::Space::Const)
      code_.variables_used.push_back(variable);
  }
  code_.file_bytes = (next_ + 63) & ~63u;
  code_.initial.resize(code_.file_bytes);
  const uint32_t all = ~0u;
  std::memcpy(code_.initial.data(), &all, 4);
  for (const auto& [key, offset] : constants_) {
    const auto& [width, bits] = key;
    if (width == 0) {
      const uint32_t mask = bits != 0 ? ~0u : 0;
      std::memcpy(&code_.initial[offset], &mask, 4);
    }
    for (int lane = 0; lane < kLanes && width != 0; ++lane)
      std::memcpy(&code_.initial[offset + lane * width], &bits, std::min(width, 8));
  }
}

Inst& Decoder::emit(Op op) {
  Inst& inst = code_.insts.emplace_back();
  inst.op = op;
  code_.places.push_back(place_);
  code_.names.push_back(instruction_ != nullptr ? full_name(*instruction_) : "ret");
  return inst;
}

bool Decoder::refuse(std::string why) {
  if (result_.problems.size() < kMaxProblems) {
    const size_t file = static_cast<size_t>(place_.file);
    result_.problems.push_back(
        {std::move(why), place_, file < module_.files.size() ? module_.files[file] : ""});
  }
  return false;
}

Decoded decode(const ptx::Module& module, int entry) { return Decoder(module, entry).run(); }

}  // namespace kw::vgpu
