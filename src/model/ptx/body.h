// Parses the body of one function: statements, instructions, operands, labels.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/parse_context.h"

namespace kw::ptx {

class BodyParser {
 public:
  BodyParser(Context& context, Function& function);
  /// From '{' to the matching '}'. Problems inside are reported and skipped. False only when
  /// reading must stop.
  bool parse();

 private:
  using Position = std::array<int, 3>;  // file, line, column
  // body.cpp
  bool statement();
  bool directive();
  bool declare_registers();
  bool declare_variables(Space space);
  bool label();
  bool label_directive(Label& label);
  bool name_list(std::vector<std::string_view>& names);
  bool location();
  bool position(Position& position);
  int call_site(const Position& position);
  void resolve_labels();
  // instruction.cpp
  bool instruction();
  bool guard(Instruction& instruction);
  bool opcode(Instruction& instruction);
  bool operands(Instruction& instruction);
  bool call_operands(Instruction& instruction);
  bool parenthesised(Operand& list);
  // operand.cpp
  bool operand(const Instruction& instruction, Operand& operand);
  bool name_operand(const Instruction& instruction, Operand& operand);
  bool special_operand(std::string_view name, int line, Operand& operand);
  bool symbol_operand(std::string_view name, int line, Operand& operand);
  bool subscript(const Instruction& instruction, Operand& operand);
  bool constant_operand(Operand& operand);
  bool address_operand(Operand& operand);
  bool vector_operand(const Instruction& instruction, Operand& operand);
  bool offset(Operand& operand);
  bool label_operand(const Instruction& instruction, Operand& operand);
  const Variable* variable_of(const Operand& operand) const;
  bool count_operand();

  // An opcode with its modifiers is split once per distinct text.
  struct Decoded {
    std::string opcode;
    std::vector<std::string> modifiers;
    std::vector<Type> types;
    Space space = Space::Generic;
  };
  static Decoded decode(std::string_view text);

  struct LabelReference {
    size_t instruction = 0, operand = 0;
    int scope = 0, line = 0;
    std::string_view name;
  };
  struct TargetList {
    int label = -1, scope = 0, line = 0;
    std::vector<std::string_view> names;
  };

  Context& context_;
  Lexer& lexer_;
  Function& function_;
  BodyScopes scopes_;
  std::unordered_map<std::string_view, Decoded> decoded_;
  std::vector<LabelReference> references_;
  std::vector<TargetList> target_lists_;
  std::map<Position, int> site_of_position_;  // call site of the latest .loc at a position
  std::map<std::pair<Position, int>, int> frame_index_;  // into Function::inline_frames
  int file_ = 0, line_ = 0, inlined_at_ = -1;            // from the latest .loc
};

}  // namespace kw::ptx
