// PTX constant expressions: literals and the C operators on them, with 64 bits as the ISA says.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/lexer.h"
#include "ptx/ptx_module.h"

namespace kw::ptx {

struct Constant {
  Operand::ImmediateKind kind = Operand::ImmediateKind::Integer;
  uint64_t bits = 0;         // as in Operand::bits
  bool is_unsigned = false;  // an integer that arithmetic treats as unsigned

  double as_double() const;  // for every kind
};

/// True when the next token can start a constant expression. '!' cannot: in an operand it negates a
/// predicate.
bool at_constant(const Lexer& lexer);

/// Reads one expression. On failure returns false and sets `why`; the position is then inside the
/// expression.
bool parse_constant(Lexer& lexer, Constant& value, std::string& why);

/// Parses the text of one literal.
bool parse_literal(std::string_view text, Constant& value);

}  // namespace kw::ptx
