// PTX constant expressions: literals and the C operators over them, 64 bits wide as the ISA says.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/lexer.h"
#include "ptx/module.h"

namespace kw::ptx {

struct Constant {
  Operand::ImmediateKind kind = Operand::ImmediateKind::Integer;
  uint64_t bits = 0;         // as in Operand::bits
  bool is_unsigned = false;  // integer that arithmetic treats as unsigned

  double as_double() const;  // whatever the kind
};

/// True when the next token can open a constant expression ('!' does not: in an operand it negates
/// a predicate).
bool at_constant(const Lexer& lexer);

/// Reads one expression. On failure returns false with `why` set; the position is then somewhere
/// inside it.
bool parse_constant(Lexer& lexer, Constant& value, std::string& why);

/// One literal's text.
bool parse_literal(std::string_view text, Constant& value);

}  // namespace kw::ptx
