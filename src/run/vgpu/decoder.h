// The state of decoding one entry, and the table from opcodes to decode functions. A decode
// function reads one instruction and emits what the warp loop runs for it. Internal to this module.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/ptx_module.h"
#include "vgpu/call_graph.h"
#include "vgpu/cas_addresses.h"
#include "vgpu/code.h"
#include "vgpu/decode.h"

namespace kw::vgpu {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

/// The places of one function's registers, parameters and variables.
struct FunctionLayout {
  std::vector<uint32_t> registers;  // offsets
  /// Frames (.param), window offsets (.shared, .local).
  std::vector<uint32_t> params, returns, variables;
  uint32_t return_slot = 0;
  uint32_t carry_slot = 0;
  uint32_t pc = 0;
  std::vector<uint32_t> label_pcs;   // per label, set when the function is emitted
  std::vector<SavedSlot> undefined;  // may be read before they are written
  int first_undefined = -1;          // the first instruction that reads one of them
  std::vector<bool> defined;         // per instruction: it cannot meet one; empty: not known
  // Only for functions that may be entered again before they return:
  bool recursive = false;
  int frame = -1;            // index into Code::frames
  uint32_t stack_bytes = 0;  // of its local variables, with padding
  std::vector<SavedSlot> saved;
  std::vector<StackAddress> stack_addresses;
  std::map<std::tuple<int, int64_t, int>, uint32_t> stack_slots;  // variable, offset, width
};

struct Decoder {
  Decoder(const ptx::Module& of, int first) : module(of), entry(first), current(first) {}

  const ptx::Function& function() const { return module.functions[current]; }
  FunctionLayout& layout() { return layouts[current]; }

  /// The instruction is complete when the caller has filled it in.
  Inst& emit(Op op);
  /// Emits an instruction whose operands are a row of a side table of the code. Always true.
  template <class T>
  bool emit_row(Op op, std::vector<T>& table, T row) {
    emit(op).target = static_cast<uint32_t>(table.size());
    table.push_back(std::move(row));
    return true;
  }
  bool refuse(std::string why);  // always false

  // decode_operand.cpp: operands -> slots. Nothing, or false, means that the operand does not fit.
  std::optional<uint32_t> source(const ptx::Operand& operand, int width, ptx::Type type);
  std::optional<uint32_t> destination(const ptx::Operand& operand, int width);
  std::optional<uint32_t> predicate(const ptx::Operand& operand, bool& negate);
  bool address(const ptx::Operand& operand, MemOp& mem);
  const ptx::Variable* variable_of(const ptx::Operand& operand) const;
  uint32_t new_slot(int width);
  uint32_t carry_slot();  // the condition code of the current function

  const ptx::Module& module;
  const int entry;
  Decoded result;
  Code& code = result.code;
  CallGraph graph;
  std::map<int, FunctionLayout> layouts;
  std::map<std::pair<int, uint64_t>, uint32_t> constants;             // by width and bits
  std::map<std::tuple<bool, int, int64_t, int>, uint32_t> addresses;  // as in Code::addresses
  std::map<std::tuple<int, uint64_t, int>, uint32_t> specials;
  std::map<int, uint32_t> module_shared;                // module variable -> shared offset
  std::vector<std::pair<uint32_t, int>> branch_fixups;  // inst, label of the current function
  CasAddresses cas;                                     // of the current function
  bool unguarded = false;                               // the decode function handled the guard
  uint32_t next = 64;    // end of the register file; offset 0: the mask that is always true
  uint32_t discard = 0;  // slot of results that are not used
  int user_file = 0;
  int current;  // function
  const ptx::Instruction* instruction = nullptr;
  SourcePlace place;
};

/// The value of the last row whose name is a modifier of the instruction; nullptr if there is none.
template <class T, size_t kCount>
const T* modified_by(const Instruction& in, const std::pair<const char*, T> (&rows)[kCount]) {
  const T* found = nullptr;
  for (const auto& [name, value] : rows)
    if (in.has(name)) found = &value;
  return found;
}
/// The elements of a vector, or the operand itself.
std::vector<const Operand*> elements_of(const Operand& operand);

/// Emits one instruction. False: it is not supported, and reported as such if no other problem was.
using DecodeFn = bool (*)(Decoder&, const ptx::Instruction&);
struct DecodeRow {
  const char* opcode;
  DecodeFn decode;
  /// The number of leading operands that it writes; nullptr: none.
  int (*destinations)(const ptx::Instruction&) = nullptr;
};
std::span<const DecodeRow> memory_decoders();
std::span<const DecodeRow> control_decoders();
std::span<const DecodeRow> collective_decoders();
std::span<const DecodeRow> tensor_decoders();

template <int n>
int leading(const ptx::Instruction&) {
  return n;
}
template <int n>
int all_but(const ptx::Instruction& instruction) {
  return static_cast<int>(instruction.operands.size()) - n;
}

// Decode functions that rows of several files need.
bool decode_nothing(Decoder& d, const ptx::Instruction& instruction);
bool decode_warp_sync(Decoder& d, const ptx::Instruction& instruction);
bool decode_async_copy(Decoder& d, const ptx::Instruction& instruction);
bool decode_group_product(Decoder& d, const ptx::Instruction& instruction);

/// Notes what the run must know of a kernel's accesses before it starts.
void note_access(Code& code, const MemOp& mem, bool orders);

// decode_layout.cpp: memory, frames and source positions
void lay_out_params(Decoder& d);
/// The offset of a variable of the current function, or of its frame.
uint32_t lay_out_variable(Decoder& d, const ptx::Variable& variable);
uint32_t add_shared(Decoder& d, const ptx::Variable& variable);
/// The bytes of a .param variable, lane after lane.
uint32_t add_frame(Decoder& d, const ptx::Variable& variable);
/// The slot of the address of a local variable of a recursive function.
uint32_t stack_address(Decoder& d, int variable, int64_t offset, int width);
void lay_out_saved(Decoder& d);
void link_frames(Decoder& d);
/// The file of the kernel itself: that of its first line that was not inlined from another file.
int user_file_of(const ptx::Function& entry);
SourcePlace place_of(const Decoder& d, const ptx::Function& f, const ptx::Instruction& instruction);

}  // namespace kw::vgpu
