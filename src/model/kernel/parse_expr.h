// Parses expressions, in plan lines and alone.
#pragma once

#include <optional>
#include <string>

#include "kernel/cursor.h"
#include "kernel/expr.h"

namespace kw::kernel {

/// Parses as far as an expression goes. Reports a missing or malformed expression; then it is not
/// set. Names are not resolved here.
std::optional<Expr> parse_expression(Cursor& cursor);

/// Parses the whole text as one expression.
std::optional<Expr> parse_expression(const std::string& text);

/// Takes a kernel name with its template arguments, with blanks normalised: "ns::rms_norm<THREADS,
/// VEC>".
std::optional<std::string> parse_kernel_name(Cursor& cursor);

}  // namespace kw::kernel
