// The decoder's working state, shared by the decode_*.cpp files. Internal to this module.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/module.h"
#include "vgpu/code.h"
#include "vgpu/decode.h"

namespace kw::vgpu {

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
  // Only for functions that may be entered again before they return:
  bool recursive = false;
  int frame = -1;            // index into Code::frames
  uint32_t stack_bytes = 0;  // of its local variables, with padding
  std::vector<SavedSlot> saved;
  std::vector<StackAddress> stack_addresses;
  std::map<std::tuple<int, int64_t, int>, uint32_t> stack_slots;  // variable, offset, width
};

/// What is known about an instruction before its operands have slots.
struct Shape {
  int destinations = 0;  // leading operands that it writes
  std::optional<isa::Alu> alu;
};

class Decoder {
 public:
  Decoder(const ptx::Module& module, int entry);
  Decoded run();

 private:
  using Handler = bool (Decoder::*)(const ptx::Instruction&);

  // decode.cpp: the order of the steps
  bool lay_out(int function);
  void shape_instructions(int function);
  void emit_function(int function);
  void emit_undefine();
  void emit_instruction(const ptx::Instruction& instruction, const Shape& shape);
  void link();
  void link_frames();

  // decode_graph.cpp: calls and recursion
  bool collect(int function, int depth);
  void collect_operand(const ptx::Operand& operand, std::set<int>& callees);
  void find_recursion();
  bool is_recursive_call(int callee) const;
  uint32_t stack_offset(const ptx::Variable& variable);
  uint32_t stack_address(int variable, int64_t offset, int width);
  void lay_out_saved(const ptx::Function& function);

  // decode_layout.cpp: memory and source positions
  void lay_out_params();
  uint32_t add_shared(const ptx::Variable& variable);
  uint32_t add_local(const ptx::Variable& variable);
  uint32_t frame(uint32_t bytes_per_lane);
  SourcePlace place_of(const ptx::Function& function, const ptx::Instruction& instruction);
  void choose_user_file();

  // decode_operand.cpp: operands -> slots
  std::optional<uint32_t> source(const ptx::Operand& operand, int width, ptx::Type type);
  std::optional<uint32_t> destination(const ptx::Operand& operand, int width);
  std::optional<uint32_t> predicate(const ptx::Operand& operand, bool& negate);
  std::optional<uint64_t> symbol_value(const ptx::Operand& operand) const;
  uint32_t constant(int width, uint64_t bits);
  uint32_t special(const ptx::Operand& operand, int width);
  uint32_t new_slot(int width);
  uint32_t carry_slot();  // the condition code of the current function
  bool address(const ptx::Operand& operand, MemOp& mem);
  const ptx::Variable* variable_of(const ptx::Operand& operand) const;
  bool is_on_stack(const ptx::Operand& operand) const;

  // decode_memory.cpp, decode_async.cpp
  bool memory_shape(const ptx::Instruction& instruction, MemOp& mem, bool allow_vector);
  bool data_slots(const ptx::Operand& operand, MemOp& mem);
  bool load(const ptx::Instruction& instruction);
  bool store(const ptx::Instruction& instruction);
  bool frame_access(const ptx::Instruction& instruction, const ptx::Operand& where, MemOp mem);
  bool atomic(const ptx::Instruction& instruction);
  bool cvta(const ptx::Instruction& instruction);
  bool is_space(const ptx::Instruction& instruction);
  bool async_copy(const ptx::Instruction& instruction);
  bool no_operation(const ptx::Instruction& instruction);
  void note_access(const MemOp& mem, bool orders);

  // decode_cas.cpp
  void find_cas_addresses();
  std::pair<int, int64_t> based(const ptx::Operand& where) const;
  bool starts_cas_loop(const ptx::Operand& where) const;

  // decode_control.cpp
  bool branch(const ptx::Instruction& instruction);
  bool branch_indexed(const ptx::Instruction& instruction);
  bool call(const ptx::Instruction& instruction);
  bool call_builtin(const ptx::Instruction& instruction, const ptx::Function& callee);
  bool call_indirect(const ptx::Instruction& instruction);
  bool copies(const std::vector<ptx::Operand>& list, const std::vector<ptx::Variable>& formals,
              const std::vector<uint32_t>& frames, bool to_callee, std::vector<FrameCopy>& out);
  std::optional<size_t> branch_around(const ptx::Instruction& instruction, int save);
  bool leave(const ptx::Instruction& instruction);
  bool trap(const ptx::Instruction& instruction);
  bool fence(const ptx::Instruction& instruction);
  bool nanosleep(const ptx::Instruction& instruction);
  bool barrier(const ptx::Instruction& instruction);
  bool read_clock(const ptx::Instruction& instruction);

  // decode_collective.cpp
  bool shuffle(const ptx::Instruction& instruction);
  bool vote(const ptx::Instruction& instruction);
  bool match(const ptx::Instruction& instruction);
  bool redux(const ptx::Instruction& instruction);
  bool active_mask(const ptx::Instruction& instruction);
  bool elect(const ptx::Instruction& instruction);
  bool warp_sync(const ptx::Instruction& instruction);

  // decode_tensor.cpp, decode_group.cpp
  bool wmma(const ptx::Instruction& instruction);
  bool mma(const ptx::Instruction& instruction);
  bool matrix_rows(const ptx::Instruction& instruction);
  bool group_product(const ptx::Instruction& instruction);
  bool fragment(const ptx::Operand& operand, ptx::Type type, int rows, int columns, bool is_source,
                Fragment& out);

  Inst& emit(Op op);
  bool refuse(std::string why);  // always false
  bool emit_alu(const ptx::Instruction& instruction, const isa::Alu& alu);
  const ptx::Function& function() const { return module_.functions[current_]; }
  FunctionLayout& layout() { return layouts_[current_]; }

  const ptx::Module& module_;
  int entry_;
  Decoded result_;
  Code& code_;
  std::vector<int> order_;  // functions, entry first
  std::map<int, FunctionLayout> layouts_;
  std::map<int, std::vector<Shape>> shapes_;
  std::map<std::pair<int, uint64_t>, uint32_t> constants_;  // width, bits
  std::map<std::tuple<int, uint64_t, int>, uint32_t> specials_;
  std::map<int, uint32_t> module_shared_;  // module variable -> shared offset
  std::set<int> address_taken_;
  std::map<int, std::set<int>> calls_, reaches_;  // functions by caller
  std::set<int> variables_used_;
  std::set<std::pair<int, int64_t>> cas_addresses_;  // register and offset, of the current function
  std::vector<int> definitions_;  // per register: its only writer; negative: none or several
  std::vector<std::pair<uint32_t, int>> branch_fixups_;  // inst, label of the current function
  bool unguarded_ = false;                               // the handler handled the guard itself
  uint32_t next_ = 0;                                    // current end of the register file
  uint32_t discard_ = 0;
  int user_file_ = 0;
  int current_ = -1;
  const ptx::Instruction* instruction_ = nullptr;
  SourcePlace place_;
};

}  // namespace kw::vgpu
