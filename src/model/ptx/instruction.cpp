#include <fmt/core.h>

#include "ptx/body.h"
#include "ptx/ptx_words.h"

namespace kw::ptx {

bool BodyParser::instruction() {
  if (++context_.instruction_count > kMaxInstructions)
    return context_.over_limit("more than 4 million instructions");
  const size_t references = references_.size();
  Instruction& instruction = function_.instructions.emplace_back();
  instruction.ptx_line = lexer_.peek().line;
  instruction.file = file_;
  instruction.line = line_;
  instruction.inlined_at = inlined_at_;
  if (guard(instruction) && opcode(instruction) && operands(instruction)) return true;
  function_.instructions.pop_back();
  references_.resize(references);
  return false;
}

bool BodyParser::guard(Instruction& instruction) {
  if (!lexer_.accept("@")) return true;
  instruction.guard_negated = lexer_.accept("!");
  std::string_view name;
  if (!context_.expect_name(name)) return false;
  const Symbol* symbol = scopes_.find(name);
  if (symbol == nullptr) return context_.fail(fmt::format("unknown register '{}'", name));
  if (symbol->kind != Symbol::Kind::Register || symbol->type != Type::Pred) {
    return context_.fail(fmt::format("guard '{}' is not a predicate register", name));
  }
  instruction.guard = symbol->index;
  return true;
}

BodyParser::Decoded BodyParser::decode(std::string_view text) {
  Decoded decoded;
  size_t end = std::min(text.find('.'), text.size());
  decoded.opcode = std::string(text.substr(0, end));
  bool has_space = false;
  while (end < text.size()) {
    const size_t start = end + 1;
    end = std::min(text.find('.', start), text.size());
    const std::string_view modifier = text.substr(start, end - start);
    decoded.modifiers.emplace_back(modifier);
    if (const Type type = find_type(modifier); type != Type::None) decoded.types.push_back(type);
    const std::optional<Space> space = find_space(modifier);
    if (space && !has_space) decoded.space = *space;
    has_space = has_space || space;
  }
  return decoded;
}

bool BodyParser::opcode(Instruction& instruction) {
  if (lexer_.peek().kind != Token::Kind::Name) return context_.fail_expected("an instruction");
  const std::string_view text = lexer_.next_opcode();
  auto found = decoded_.find(text);
  if (found == decoded_.end()) found = decoded_.emplace(text, decode(text)).first;
  instruction.opcode = found->second.opcode;
  instruction.modifiers = found->second.modifiers;
  instruction.types = found->second.types;
  instruction.space = found->second.space;
  if (lexer_.peek().kind == Token::Kind::Dotted) {
    return context_.fail(fmt::format("blank before modifier '.{}'", lexer_.peek().text));
  }
  return true;
}

bool BodyParser::count_operand() {
  if (++context_.operand_count <= kMaxOperands) return true;
  return context_.over_limit("more than 16 million operands");
}

bool BodyParser::operands(Instruction& instruction) {
  if (instruction.opcode == "call") return call_operands(instruction);
  if (lexer_.accept(";")) return true;
  const bool branch = instruction.opcode == "bra", indexed = instruction.opcode == "brx";
  instruction.operands.reserve(4);
  for (;;) {
    const size_t index = instruction.operands.size();
    Operand& next = instruction.operands.emplace_back();
    const bool is_label = (branch && index == 0) || (indexed && index == 1);
    if (!(is_label ? label_operand(instruction, next) : operand(instruction, next))) return false;
    if (lexer_.accept(",") || lexer_.accept("|")) continue;
    return context_.expect(";");
  }
}

// A list in parentheses, as a Vector operand.
bool BodyParser::parenthesised(Operand& list) {
  list.kind = Operand::Kind::Vector;
  if (!context_.expect("(")) return false;
  if (lexer_.accept(")")) return true;
  const Instruction no_instruction;
  do {
    if (!operand(no_instruction, list.elements.emplace_back())) return false;
  } while (lexer_.accept(","));
  return context_.expect(")");
}

// [(returns),] target [, (arguments)] [, prototype or targets];
bool BodyParser::call_operands(Instruction& instruction) {
  instruction.operands.resize(3);
  instruction.operands[0].kind = instruction.operands[2].kind = Operand::Kind::Vector;
  if (lexer_.peek().is("(")) {
    if (!parenthesised(instruction.operands[0]) || !context_.expect(",")) return false;
  }
  const int line = lexer_.peek().line;
  if (!operand(instruction, instruction.operands[1])) return false;
  const Operand& target = instruction.operands[1];
  if (target.kind != Operand::Kind::Register && target.function < 0) {
    return context_.fail(line, "the target of a call must be a function or a register");
  }
  if (lexer_.accept(";")) return true;
  if (!context_.expect(",")) return false;
  if (lexer_.peek().is("(")) {
    if (!parenthesised(instruction.operands[2])) return false;
    if (lexer_.accept(";")) return true;
    if (!context_.expect(",")) return false;
  }
  return label_operand(instruction, instruction.operands.emplace_back()) && context_.expect(";");
}

}  // namespace kw::ptx
