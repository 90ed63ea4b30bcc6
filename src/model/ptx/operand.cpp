// The operands of an instruction can be registers, constants, symbols, addresses, vectors or
// labels. The parser resolves each name at once: body scopes first, then module scope, then special
// registers. An operand keeps an index for each kind of symbol, so that users need no lookup. A
// variant type would be smaller, but a plain struct is easier to use. Forms that are not supported,
// such as parts of a register, are refused with a message. The cost: an operand is a large struct;
// the number of operands of a module is limited.
#include <fmt/core.h>

#include "ptx/body.h"
#include "ptx/constant.h"
#include "ptx/ptx_words.h"

namespace kw::ptx {

bool BodyParser::operand(const Instruction& instruction, Operand& operand) {
  if (!count_operand()) return false;
  const Token& token = lexer_.peek();
  if (at_constant(lexer_)) return constant_operand(operand);
  if (token.kind == Token::Kind::Name) return name_operand(instruction, operand);
  if (token.is("[")) return address_operand(operand);
  if (token.is("{")) return vector_operand(instruction, operand);
  if (!lexer_.accept("!")) return context_.fail_expected("an operand");
  if (at_constant(lexer_)) {
    if (!constant_operand(operand)) return false;
    operand.bits = operand.bits == 0;
    return true;
  }
  const int line = lexer_.peek().line;
  if (lexer_.peek().kind != Token::Kind::Name) return context_.fail_expected("a predicate");
  if (!name_operand(instruction, operand)) return false;
  const bool is_predicate = operand.kind == Operand::Kind::Register && !operand.negated &&
                            function_.registers[operand.reg].type == Type::Pred;
  if (!is_predicate) return context_.fail(line, "'!' needs a predicate register");
  operand.negated = true;
  return true;
}

bool BodyParser::constant_operand(Operand& operand) {
  const int line = lexer_.peek().line;
  Constant constant;
  std::string why;
  if (!parse_constant(lexer_, constant, why)) return context_.fail(line, why);
  operand.kind = Operand::Kind::Immediate;
  operand.immediate = constant.kind;
  operand.bits = constant.bits;
  return true;
}

bool BodyParser::name_operand(const Instruction& instruction, Operand& operand) {
  const Token token = lexer_.next();
  if (token.text == "_") {
    operand.kind = Operand::Kind::Discard;
    return true;
  }
  if (!symbol_operand(token.text, token.line, operand)) return false;
  if (lexer_.peek().kind == Token::Kind::Dotted) {
    return context_.fail(fmt::format("'{}.{}': parts of a register are not supported", token.text,
                                     lexer_.peek().text));
  }
  if (operand.kind != Operand::Kind::Symbol) return true;
  return lexer_.peek().is("[") ? subscript(instruction, operand) : offset(operand);
}

bool BodyParser::symbol_operand(std::string_view name, int line, Operand& operand) {
  const Symbol* symbol = scopes_.find(name);
  if (symbol == nullptr) {
    const auto global = context_.globals.find(name);
    if (global == context_.globals.end()) return special_operand(name, line, operand);
    symbol = &global->second;
  }
  operand.kind =
      symbol->kind == Symbol::Kind::Register ? Operand::Kind::Register : Operand::Kind::Symbol;
  switch (symbol->kind) {
    case Symbol::Kind::Register:
      operand.reg = symbol->index;
      break;
    case Symbol::Kind::BodyVariable:
      operand.local_symbol = true;
      [[fallthrough]];
    case Symbol::Kind::ModuleVariable:
      operand.symbol = symbol->index;
      break;
    case Symbol::Kind::Param:
      operand.param = symbol->index;
      break;
    case Symbol::Kind::Result:
      operand.result = symbol->index;
      break;
    case Symbol::Kind::Function:
      operand.function = symbol->index;
      break;
  }
  return true;
}

bool BodyParser::special_operand(std::string_view name, int line, Operand& operand) {
  if (name[0] != '%') return context_.fail(line, fmt::format("unknown name '{}'", name));
  std::string_view component;
  if (is_vector_special(name)) {
    if (lexer_.peek().kind != Token::Kind::Dotted) {
      return context_.fail(
          line, fmt::format("'{}' as a vector is not supported; name a component", name));
    }
    component = lexer_.next().text;
  }
  const std::optional<Special> special = find_special(name, component);
  if (!special) {
    return context_.fail(line, fmt::format("unknown register '{}{}{}'", name,
                                           component.empty() ? "" : ".", component));
  }
  operand.kind = Operand::Kind::Special;
  operand.special = *special;
  if (*special == Special::EnvReg) {
    for (const char digit : name.substr(7))
      operand.bits = operand.bits * 10 + static_cast<uint64_t>(digit - '0');
  }
  return true;
}

// "+8" or "-8" after a register or a symbol.
bool BodyParser::offset(Operand& operand) {
  if (!lexer_.peek().is("+") && !lexer_.peek().is("-")) return true;
  const bool minus = lexer_.peek().is("-");
  if (!minus) lexer_.next();  // "+-4": the sign belongs to the number
  return context_.expect_integer(std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max(), operand.offset);
}

const Variable* BodyParser::variable_of(const Operand& operand) const {
  if (operand.param >= 0) return &function_.params[operand.param];
  if (operand.result >= 0) return &function_.returns[operand.result];
  if (operand.symbol < 0) return nullptr;
  return operand.local_symbol ? &function_.variables[operand.symbol]
                              : &context_.module.variables[operand.symbol];
}

// array[3] is an address in mov and cvta; in other instructions it is the memory at that address.
bool BodyParser::subscript(const Instruction& instruction, Operand& operand) {
  const Variable* variable = variable_of(operand);
  if (variable == nullptr) return context_.fail("only a variable can have a subscript");
  lexer_.next();
  int64_t index = 0;
  if (!context_.expect_integer(-kMaxVariableBytes, kMaxVariableBytes, index)) return false;
  operand.offset = index * type_size(variable->type);
  if (instruction.opcode != "mov" && instruction.opcode != "cvta")
    operand.kind = Operand::Kind::Address;
  return context_.expect("]");
}

bool BodyParser::address_operand(Operand& operand) {
  lexer_.next();
  const Token token = lexer_.peek();
  if (at_constant(lexer_)) {
    if (!context_.expect_integer(std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max(), operand.offset)) {
      return false;
    }
  } else {
    std::string_view name;
    if (!context_.expect_name(name) || !symbol_operand(name, token.line, operand)) return false;
    if (operand.kind == Operand::Kind::Special || operand.function >= 0) {
      return context_.fail(token.line, fmt::format("'{}' is not an address", name));
    }
    if (!offset(operand)) return false;
  }
  operand.kind = Operand::Kind::Address;
  if (lexer_.accept(",")) {
    Operand coordinates;
    if (!this->operand({}, coordinates)) return false;
    if (coordinates.kind == Operand::Kind::Vector)
      operand.elements = std::move(coordinates.elements);
    else
      operand.elements.push_back(std::move(coordinates));
  }
  return context_.expect("]");
}

bool BodyParser::vector_operand(const Instruction& instruction, Operand& operand) {
  lexer_.next();
  operand.kind = Operand::Kind::Vector;
  operand.elements.reserve(4);
  do {
    if (lexer_.peek().is("{") || lexer_.peek().is("["))
      return context_.fail_expected("a register or a constant");
    if (!this->operand(instruction, operand.elements.emplace_back())) return false;
  } while (lexer_.accept(","));
  return context_.expect("}");
}

// A label may be declared later, so its name is resolved at the end of the body.
bool BodyParser::label_operand(const Instruction& instruction, Operand& operand) {
  LabelReference reference;
  reference.line = lexer_.peek().line;
  if (!count_operand() || !context_.expect_name(reference.name)) return false;
  operand.kind = Operand::Kind::Label;
  reference.instruction = function_.instructions.size() - 1;
  reference.operand = instruction.operands.size() - 1;
  reference.scope = scopes_.current();
  references_.push_back(reference);
  return true;
}

}  // namespace kw::ptx
