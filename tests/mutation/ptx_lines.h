// PTX text as lines whose instructions can be replaced. Keeps every byte that is not replaced.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kw::mutation {

/// One instruction that stands alone on its line: "@%p1 ld.global.f32 %f1, [%rd4+8];".
struct Instruction {
  size_t line = 0;     // index into PtxLines::lines
  std::string guard;   // "@%p1 ", "@!%p1 " or ""
  std::string opcode;  // "ld.global.f32"
  std::vector<std::string> operands;
  int function = 0;     // which function of the text
  int source_line = 0;  // of the module, by .loc; 0: unknown
  int ordinal = 0;      // among those with equal opcode and source line in its function

  bool is(std::string_view name) const;   // "setp" for "setp.lt.s32"
  bool has(std::string_view part) const;  // ".f32" as a whole modifier
  std::string_view type() const;          // the last modifier: "f32"
  /// Where it stands, the same in every variant of a kernel: "37 setp.lt.s32 #0".
  std::string place() const;
  std::string text() const;  // without the line's indentation
  std::string with(size_t operand, std::string text) const;
  std::string with_opcode(std::string text) const;
};

class PtxLines {
 public:
  explicit PtxLines(std::string_view text);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// The type that a register of a function was declared with: "f32"; "" if unknown.
  std::string register_type(int function, std::string_view name) const;
  /// The text with other lines in the place of some, by index.
  std::string replaced(const std::map<size_t, std::string>& lines) const;

 private:
  void read_line(size_t index);
  void read_registers(std::string_view line);
  void read_instruction(size_t index, std::string_view line);

  std::vector<std::string> lines_;
  std::vector<Instruction> instructions_;
  std::vector<std::map<std::string, std::string, std::less<>>> register_types_;  // by function
  std::map<std::string, int> seen_;  // of the function being read: opcode and source line
  int function_ = -1, source_line_ = 0;
};

/// Whether the operand is a register: "%f1".
bool is_register(std::string_view operand);
/// Whether it is an integer literal, and its value.
bool is_integer(std::string_view operand, long long* value);
/// Whether it is a literal of fp32 ("0f3F800000") or fp64, and its value.
bool is_float(std::string_view operand, double* value);
std::string float_literal(double value, bool is_double);

/// Whether both texts have the same instructions once those whose results nothing uses are removed.
bool same_live_code(std::string_view one, std::string_view other);

}  // namespace kw::mutation
